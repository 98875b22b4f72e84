public import Sodium

extension Secret {
    /// The UTF-8 of a text. The text itself stays in the caller's memory, which nothing can wipe.
    public init(_ text: String) {
        self.init(copying: Array(text.utf8).span)
    }

    /// A copy of the bytes, which stay in the caller's memory until it wipes them.
    public init(_ bytes: [UInt8]) {
        self.init(copying: bytes.span)
    }

    /// The secret as text; nil where it is no UTF-8. What is made here cannot be wiped: a convenience for what needs a
    /// `String` anyway, such as a header of a request.
    public borrowing func text() -> String? { String(validating: bytes(), as: UTF8.self) }

    /// The secret as an array, which the caller wipes where that matters.
    public borrowing func bytes() -> [UInt8] {
        let span = span
        return [UInt8](capacity: count) { output in
            for index in span.indices { output.append(span[index]) }
        }
    }
}
