internal import CSQLite
internal import Glibc

/// One connection to a database file, for one thread at a time.
///
/// It is opened without SQLite's mutexes: whoever holds it makes sure that no two threads use it at once.
@safe public final class Database {
    // The connection, from open to deinit; statements hold their database, so it goes last.
    private let handle: OpaquePointer
    private var cache: [String: Statement] = [:]
    private var kept: [ObjectIdentifier: Statement] = [:]

    // Its count of allocated memory takes a lock at each allocation. A failure leaves it counting.
    private static let countsNoMemory = shim_count_no_memory()

    /// How a file is opened.
    public enum Mode: Sendable {
        /// The file must exist.
        case readOnly
        /// The file must exist.
        case readWrite
        /// The file is made where there is none, for its owner alone.
        case create
        /// The file must exist, on a disk that nobody can write: no locks, and no log beside it.
        case immutable
    }

    /// Opens the file. The folder may stand behind symbolic links; the file itself must not be one.
    public init(path: String, mode: Mode) throws(SQLiteError) {
        let access =
            switch mode {
            case .readOnly: SQLITE_OPEN_READONLY
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        _ = Self.countsNoMemory
        let path = Self.resolvingFolder(of: path)
        if case .create = mode { Self.makeFile(path) }
        if mode == .immutable && DatabaseFile.hasLog(path) { throw SQLiteError(code: SQLITE_CANTOPEN) }
        let name = mode == .immutable ? Self.immutableName(of: path) : path
        var opened: OpaquePointer?
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW
        let result = unsafe sqlite3_open_v2(name, &opened, flags, nil)
        guard result == SQLITE_OK, let handle = unsafe opened else {
            // A failed open leaves a handle that knows the error and must be closed.
            let code = unsafe opened.map { unsafe sqlite3_extended_errcode($0) } ?? result
            unsafe sqlite3_close_v2(opened)
            throw SQLiteError(code: code)
        }
        unsafe self.handle = handle
        unsafe sqlite3_extended_result_codes(handle, 1)
    }

    // SQLite would refuse a link anywhere in the path.
    private static func resolvingFolder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex,
            let folder = unsafe realpath(String(path[..<slash]), nil)
        else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + path[slash...]
    }

    // SQLite would make the file by the umask; its log takes after it. A failure shows when it is opened.
    // A file that exists is not opened here: closing it would drop the locks that this process has on it.
    private static func makeFile(_ path: String) {
        let file = unsafe Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) }
    }

    deinit {
        kept.removeAll()
        cache.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    // What has a meaning in a URI is written as its number.
    private static func immutableName(of path: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var name = Array("file:".utf8)
        for byte in path.utf8 {
            switch byte {
            case 0x2f, 0x2d, 0x2e, 0x5f, 0x30...0x39, 0x41...0x5a, 0x61...0x7a: name.append(byte)
            default: name += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: name, as: UTF8.self) + "?immutable=1"
    }

    /// Waits so long for a lock that another process holds.
    public func setBusyTimeout(milliseconds: Int32) { unsafe sqlite3_busy_timeout(handle, milliseconds) }

    /// Runs statements that give no rows; parameters are not possible.
    public func execute(_ sql: String) throws(SQLiteError) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// The first column of the first row, for pragmas and counts; nil where there is no row.
    public func number(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = unsafe try Statement(handle: handle, sql: sql, isKept: false)
        return try statement.step() ? statement.number(0) : nil
    }

    /// A statement that is prepared once and kept; it is reset and its parameters are cleared.
    public func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = cache[sql] {
            statement.reset()
            return statement
        }
        let statement = unsafe try Statement(handle: handle, sql: sql, isKept: true)
        cache[sql] = statement
        return statement
    }

    /// The same for a text that was made once, and is found without looking at it.
    public func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
        if let statement = kept[ObjectIdentifier(sql)] {
            statement.reset()
            return statement
        }
        let statement = unsafe try Statement(handle: handle, sql: sql.text, isKept: true)
        kept[ObjectIdentifier(sql)] = statement
        return statement
    }

    /// The rows that the last statement inserted, updated or deleted.
    public var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

    /// Whether a transaction is open; some failures roll it back by themselves.
    public var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    private func check(_ result: Int32) throws(SQLiteError) {
        guard result != SQLITE_OK else { return }
        throw SQLiteError(code: unsafe sqlite3_extended_errcode(handle))
    }
}

/// A statement's text for the way of every call. It must live as long as the databases it is used on.
public final class SQL: Sendable {
    let text: String

    /// Takes the text as it is.
    public init(_ text: String) { self.text = text }
}

/// A database that is handed to another thread for one blocking step.
///
/// Sendable holds because the owner hands it over and does not touch the database until the step is done.
public struct Handover: @unchecked Sendable {
    private let database: Database

    /// Hands the database over.
    public init(_ database: Database) { self.database = database }

    /// The first column of the first row, on the thread that holds it now.
    public func number(_ sql: String) -> Result<Int64?, SQLiteError> {
        do throws(SQLiteError) {
            return .success(try database.number(sql))
        } catch {
            return .failure(error)
        }
    }

    /// Runs one statement on the thread that holds it now.
    public func execute(_ sql: String) -> Result<Void, SQLiteError> {
        do throws(SQLiteError) {
            return .success(try database.execute(sql))
        } catch {
            return .failure(error)
        }
    }
}
