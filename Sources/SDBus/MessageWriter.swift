internal import CSystemd
internal import Glibc

/// Writes a message from front to back.
///
/// A write that throws leaves the message unusable; the room then drops it and sends an error in its place.
@safe public struct MessageWriter: ~Copyable {
    private let message: OpaquePointer
    /// About how many bytes were appended; containers and padding are not counted.
    private(set) var byteCount = 0

    /// Borrows the message; whoever made the writer keeps it alive.
    init(_ message: OpaquePointer) {
        unsafe self.message = message
    }

    /// Appends a value.
    @inlinable
    public mutating func append<Value: BusEncodable & ~Copyable>(
        _ value: borrowing Value
    ) throws(BusError) {
        try value.encode(to: &self)
    }

    /// Opens a container: `a`, `v`, `r` (structure) or `e` (dictionary entry), with its contents' signature.
    public mutating func open(_ type: StaticString, _ contents: StaticString) throws(BusError) {
        let code = unsafe CChar(bitPattern: type.utf8Start.pointee)
        let contents = unsafe UnsafeRawPointer(contents.utf8Start).assumingMemoryBound(to: CChar.self)
        try check(unsafe sd_bus_message_open_container(message, code, contents))
    }

    /// The same with contents that are known only when the program runs.
    public mutating func open(_ type: UInt8, contents: String) throws(BusError) {
        try check(unsafe sd_bus_message_open_container(message, CChar(bitPattern: type), contents))
    }

    /// Closes the innermost container.
    public mutating func close() throws(BusError) {
        try check(unsafe sd_bus_message_close_container(message))
    }

    /// Appends a variant that holds the value.
    public mutating func variant<Value: BusEncodable & ~Copyable>(
        _ value: borrowing Value
    ) throws(BusError) {
        try open(UInt8(ascii: "v"), contents: Value.signature)
        try value.encode(to: &self)
        try close()
    }

    /// Appends one entry of an `a{sv}` that is open.
    public mutating func entry<Value: BusEncodable & ~Copyable>(
        _ key: String, _ value: borrowing Value
    ) throws(BusError) {
        try open("e", "sv")
        try text(key)
        try variant(value)
        try close()
    }

    /// Appends the bytes as `ay`.
    public mutating func bytes(_ bytes: Span<UInt8>) throws(BusError) {
        let message = unsafe message
        byteCount += bytes.count
        let result = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe sd_bus_message_append_array(
                message, CChar(bitPattern: UInt8(ascii: "y")), buffer.baseAddress, buffer.count)
        }
        try check(result)
    }

    /// Appends an `ay` of that many bytes, which the closure fills in the message itself: they are zero before.
    ///
    /// A secret that is encrypted here has no other copy. Append it last: growing a message moves its body.
    public mutating func appendSpace(
        _ count: Int, _ fill: (inout MutableSpan<UInt8>) throws(BusError) -> Void
    ) throws(BusError) {
        var start: UnsafeMutableRawPointer?
        byteCount += count
        try check(
            unsafe sd_bus_message_append_array_space(
                message, CChar(bitPattern: UInt8(ascii: "y")), count, &start))
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: start, count: start == nil ? 0 : count)
        unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
        var span = unsafe MutableSpan<UInt8>(_unsafeBytes: buffer)
        try fill(&span)
    }

    /// Appends a string. Throws when it holds a NUL, which no D-Bus string can.
    mutating func text(_ value: String) throws(BusError) {
        try text(utf8: value.utf8Span.span)
    }

    /// Appends text that is UTF-8 already. Throws when it holds a NUL.
    public mutating func text(utf8: Span<UInt8>) throws(BusError) {
        var start: UnsafeMutablePointer<CChar>?
        byteCount += utf8.count + 5
        try check(unsafe sd_bus_message_append_string_space(message, utf8.count, &start))
        let isText = unsafe utf8.withUnsafeBufferPointer { bytes in
            guard let from = bytes.baseAddress, let to = unsafe start, !bytes.isEmpty else { return true }
            unsafe memcpy(to, from, bytes.count)
            return unsafe memchr(from, 0, bytes.count) == nil
        }
        if !isText { throw .invalidArguments("A string holds a NUL") }
    }

    /// Appends an object path or a signature, which sd-bus validates.
    mutating func checkedText(_ type: UInt8, _ value: String) throws(BusError) {
        if value.utf8.contains(0) { throw .invalidArguments("A string holds a NUL") }
        byteCount += value.utf8.count + 5
        try check(unsafe sd_bus_message_append_basic(message, CChar(bitPattern: type), value))
    }

    /// Appends a value of a basic type that has the same form in memory.
    mutating func basic<Value: BitwiseCopyable>(_ type: UInt8, _ value: Value) throws(BusError) {
        let message = unsafe message
        byteCount += MemoryLayout<Value>.size
        let result = unsafe withUnsafePointer(to: value) { pointer in
            unsafe sd_bus_message_append_basic(message, CChar(bitPattern: type), pointer)
        }
        try check(result)
    }
}
