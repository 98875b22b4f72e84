internal import Glibc

/// A file descriptor with one owner, closed with it.
public struct UnixFD: ~Copyable, Sendable {
    /// The number, valid for as long as the owner is.
    public let number: Int32

    /// Takes the descriptor over.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// A second descriptor, close-on-exec, of the same open file. Throws when the process has too many.
    public borrowing func duplicate() throws(BusError) -> UnixFD {
        UnixFD(owning: try duplicateDescriptor(number))
    }

    /// Gives the number away; the caller closes it.
    public consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}

extension UnixFD: BusEncodable, BusDecodable {
    /// `h`.
    public static var signature: String { "h" }

    /// Appends a duplicate; the owner keeps its own.
    public borrowing func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "h"), number)
    }

    /// Duplicates the message's descriptor, close-on-exec.
    public init(from reader: inout MessageReader) throws(BusError) {
        self.init(owning: try duplicateDescriptor(reader.basic(UInt8(ascii: "h"), Int32(-1))))
    }
}

/// A descriptor that came as a method's argument, where Swift asks for a copyable type.
public final class ReceivedFD: BusDecodable, Sendable {
    private let descriptor: UnixFD

    /// `h`.
    public static var signature: String { "h" }

    /// Duplicates the message's descriptor, close-on-exec.
    public init(from reader: inout MessageReader) throws(BusError) {
        descriptor = try UnixFD(from: &reader)
    }

    /// The number, valid for as long as this object is.
    public var number: Int32 { descriptor.number }

    /// A descriptor of one's own.
    public func duplicate() throws(BusError) -> UnixFD { try descriptor.duplicate() }
}

private func duplicateDescriptor(_ number: Int32) throws(BusError) -> Int32 {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
    if copy < 0 { throw BusError(errno: errno) }
    return copy
}
