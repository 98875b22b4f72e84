internal import CSystemd
internal import Glibc

/// Reads a message from front to back. What it hands out as a span lies in the message itself.
///
/// Every method throws when the message holds something else than was asked for.
@safe public struct MessageReader: ~Copyable {
    private let message: OpaquePointer

    /// Borrows the message; whoever made the reader keeps it alive.
    init(_ message: OpaquePointer) {
        unsafe self.message = message
    }

    /// Reads a value of that type.
    @inlinable
    public mutating func read<Value: BusDecodable & ~Copyable>(
        _ type: Value.Type = Value.self
    ) throws(BusError) -> Value {
        try Value(from: &self)
    }

    /// Goes into a container: `a`, `v`, `r` (structure) or `e` (dictionary entry), with its contents' signature.
    /// False at the end of the enclosing array.
    public mutating func enter(_ type: StaticString, _ contents: StaticString) throws(BusError) -> Bool {
        let code = unsafe CChar(bitPattern: type.utf8Start.pointee)
        let contents = unsafe UnsafeRawPointer(contents.utf8Start).assumingMemoryBound(to: CChar.self)
        return try unsafe check(sd_bus_message_enter_container(message, code, contents)) > 0
    }

    /// The same with contents that are known only when the program runs.
    public mutating func enter(_ type: UInt8, contents: String) throws(BusError) -> Bool {
        try check(unsafe sd_bus_message_enter_container(message, CChar(bitPattern: type), contents)) > 0
    }

    /// Goes into a variant that holds a value of that type. False for any other, where the reader stays.
    public mutating func enterVariant(_ contents: StaticString) throws(BusError) -> Bool {
        let contents = unsafe UnsafeRawPointer(contents.utf8Start).assumingMemoryBound(to: CChar.self)
        let result = unsafe sd_bus_message_enter_container(
            message, CChar(bitPattern: UInt8(ascii: "v")), contents)
        if result == -ENXIO { return false }
        return try check(result) > 0
    }

    /// Leaves a container. Throws when something in it has not been read.
    public mutating func exit() throws(BusError) {
        try check(unsafe sd_bus_message_exit_container(message))
    }

    /// True when nothing is left in the container that the reader is in.
    public mutating func isAtEnd() throws(BusError) -> Bool {
        try check(unsafe sd_bus_message_at_end(message, 0)) > 0
    }

    /// The type that comes next, and its contents when it is a container. The type is 0 at the end.
    public mutating func peekType() throws(BusError) -> (type: UInt8, contents: String) {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try check(unsafe sd_bus_message_peek_type(message, &type, &contents)) > 0 else {
            return (0, "")
        }
        return (UInt8(bitPattern: type), unsafe string(contents) ?? "")
    }

    /// Passes over one complete value, whatever it is.
    public mutating func skip() throws(BusError) {
        let (type, contents) = try peekType()
        let signature =
            switch type {
            case 0: ""
            case UInt8(ascii: "a"): "a" + contents
            case UInt8(ascii: "r"): "(" + contents + ")"
            case UInt8(ascii: "e"): "{" + contents + "}"
            default: String(UnicodeScalar(type))
            }
        if signature.isEmpty { throw BusError(errno: ENXIO) }
        try check(unsafe sd_bus_message_skip(message, signature))
    }

    /// Reads an array of bytes in place. The span is valid inside the closure.
    public mutating func withBytes<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        var start: UnsafeRawPointer?
        var count = 0
        try require(
            unsafe sd_bus_message_read_array(message, CChar(bitPattern: UInt8(ascii: "y")), &start, &count))
        let buffer = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        return try body(unsafe Span(_unsafeBytes: buffer))
    }

    /// Reads a string in place, without its NUL. The span is valid inside the closure.
    public mutating func withUTF8<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        let start = try unsafe characters(UInt8(ascii: "s"))
        let buffer = unsafe UnsafeRawBufferPointer(start: start, count: strlen(start))
        return try body(unsafe Span(_unsafeBytes: buffer))
    }

    /// Reads a string as its bytes, without its NUL.
    public mutating func readUTF8() throws(BusError) -> [UInt8] { try withUTF8 { Array(copying: $0) } }

    /// Reads a value of a basic type that has the same form in memory.
    mutating func basic<Value: BitwiseCopyable>(_ type: UInt8, _ empty: Value) throws(BusError) -> Value {
        var value = empty
        try require(unsafe sd_bus_message_read_basic(message, CChar(bitPattern: type), &value))
        return value
    }

    /// Reads `s`, `o` or `g`.
    mutating func text(_ type: UInt8) throws(BusError) -> String {
        unsafe String(cString: try characters(type))
    }

    /// At the end of an array sd-bus reads nothing and says 0, which is no error to it.
    private func require(_ result: Int32) throws(BusError) {
        if try check(result) == 0 { throw BusError(errno: ENXIO) }
    }

    private mutating func characters(_ type: UInt8) throws(BusError) -> UnsafePointer<CChar> {
        var start: UnsafePointer<CChar>?
        try require(unsafe sd_bus_message_read_basic(message, CChar(bitPattern: type), &start))
        guard let start = unsafe start else { throw BusError(errno: EBADMSG) }
        return unsafe start
    }
}

extension MessageReader {
    /// Reads `a{sv}`. The closure gets each key, with the reader standing inside the variant; what it leaves unread
    /// is passed over.
    public mutating func dictionary(
        _ body: (_ key: String, _ value: inout MessageReader) throws(BusError) -> Void
    ) throws(BusError) {
        _ = try enter("a", "{sv}")
        while try enter("e", "sv") {
            let key = try text(UInt8(ascii: "s"))
            _ = try enter(UInt8(ascii: "v"), contents: peekType().contents)
            try body(key, &self)
            if try !isAtEnd() { try skip() }
            try exit()
            try exit()
        }
        try exit()
    }
}
