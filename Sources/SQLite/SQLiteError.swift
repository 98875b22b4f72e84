internal import CSQLite

/// A call to SQLite that failed.
public struct SQLiteError: Error, Sendable, Equatable {
    /// The extended result code.
    public let code: Int32

    init(code: Int32) { self.code = code }

    /// What the failure means to whoever must answer for it.
    public var kind: Kind {
        switch code & 0xff {
        case SQLITE_CONSTRAINT: .constraint
        case SQLITE_READONLY: .readOnly
        case SQLITE_FULL: .full
        case SQLITE_IOERR: .inputOutput
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .cannotOpen
        case SQLITE_NOMEM: .outOfMemory
        default: .misuse
        }
    }

    /// The families of result codes.
    public enum Kind: Sendable {
        case constraint
        case readOnly
        case full
        case inputOutput
        case damaged
        case busy
        case cannotOpen
        case outOfMemory
        case misuse
    }
}

extension SQLiteError {
    /// A transaction that the library rolled back by itself.
    public static let lostTransaction = SQLiteError(code: SQLITE_FULL)
}

extension SQLiteError {
    /// A file that is a database and not one that the caller can use.
    public static let notOurs = SQLiteError(code: SQLITE_NOTADB)
}
