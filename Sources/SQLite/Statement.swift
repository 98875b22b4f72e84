internal import CSQLite

/// A prepared statement. Parameters count from 1, columns from 0.
@safe public final class Statement {
    private let handle: OpaquePointer
    private let database: OpaquePointer
    /// Whether `reset` would change nothing.
    private var isClean = true

    init(handle database: OpaquePointer, sql: String, isKept: Bool) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = unsafe sqlite3_prepare_v3(database, sql, -1, flags, &prepared, nil)
        guard result == SQLITE_OK, let handle = unsafe prepared else {
            throw SQLiteError(code: unsafe sqlite3_extended_errcode(database))
        }
        unsafe self.handle = handle
        unsafe self.database = database
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Binds a number.
    public func bind(_ value: Int64, at index: Int32) {
        isClean = false
        precondition(unsafe sqlite3_bind_int64(handle, index, value) == SQLITE_OK)
    }

    /// Binds bytes, which SQLite copies: sealed ones only.
    public func bind(_ bytes: [UInt8], at index: Int32) {
        isClean = false
        let result = unsafe shim_bind_blob(handle, index, bytes, UInt64(bytes.count))
        precondition(result == SQLITE_OK || result == SQLITE_NOMEM)
    }

    /// Binds a text.
    public func bind(_ text: String, at index: Int32) {
        isClean = false
        let result = unsafe shim_bind_text(handle, index, text, UInt64(text.utf8.count))
        precondition(result == SQLITE_OK || result == SQLITE_NOMEM)
    }

    /// Binds a number, or NULL for nil.
    public func bind(_ value: Int64?, at index: Int32) {
        if let value { bind(value, at: index) } else { unsafe sqlite3_bind_null(handle, index) }
    }

    /// Goes to the next row; false where there is none, after which the statement is reset.
    public func step() throws(SQLiteError) -> Bool {
        isClean = false
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            unsafe sqlite3_reset(handle)
            return false
        default:
            let code = unsafe sqlite3_extended_errcode(database)
            unsafe sqlite3_reset(handle)
            throw SQLiteError(code: code)
        }
    }

    /// Runs a statement that gives no rows.
    public func run() throws(SQLiteError) { while try step() {} }

    /// Ends a look at rows, which lets go of the read transaction, and clears the parameters.
    public func reset() {
        guard !isClean else { return }
        isClean = true
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// A number; 0 for NULL.
    public func number(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    /// A number that is never negative where we wrote it; 0 for one that is.
    public func unsigned(_ column: Int32) -> UInt64 { UInt64(clamping: number(column)) }

    /// Whether the column is NULL.
    public func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The bytes of a column; empty for NULL.
    public func bytes(_ column: Int32) -> [UInt8] {
        guard let blob = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: blob, count: count))
    }

    /// The text of a column; empty for NULL.
    public func text(_ column: Int32) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }
}
