internal import Sodium

/// A text with secret parts, put together in locked memory.
struct SecretText {
    private var pieces: [Piece] = []

    private enum Piece {
        case open([UInt8])
        case secret(SecretSlice)

        var count: Int {
            switch self {
            case .open(let bytes): bytes.count
            case .secret(let slice): slice.count
            }
        }

        subscript(index: Int) -> UInt8 {
            switch self {
            case .open(let bytes): bytes[index]
            case .secret(let slice): slice[index]
            }
        }
    }

    var isEmpty: Bool { pieces.isEmpty }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    mutating func append(_ bytes: [UInt8]) { pieces.append(.open(bytes)) }

    mutating func append(_ slice: SecretSlice) { pieces.append(.secret(slice)) }

    mutating func append(_ other: SecretText) { pieces += other.pieces }

    /// The whole.
    func secret() -> Secret {
        Secret(count: pieces.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for piece in pieces {
                for index in 0..<piece.count { target[offset + index] = piece[index] }
                offset += piece.count
            }
        }
    }
}
