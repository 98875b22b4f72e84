/// What is enrolled at a fingerprint reader for one user: a hash of the reader's name, and one of the fingers' names.
///
/// That is all that fprintd tells: a finger that is deleted and enrolled anew under its name makes the same set.
public struct FingerSet: Hashable, Sendable {
    /// How long each hash is.
    public static let hashBytes = 32

    /// Tells the reader from one of another make.
    public let reader: [UInt8]
    /// Tells the fingers from any others.
    public let fingers: [UInt8]

    /// Nil for what is not two such hashes.
    public init?(reader: [UInt8], fingers: [UInt8]) {
        guard reader.count == Self.hashBytes, fingers.count == Self.hashBytes else { return nil }
        self.reader = reader
        self.fingers = fingers
    }
}

/// What the machine says of the fingers that are enrolled.
public enum Enrolment: Sendable, Equatable {
    /// These, at this reader.
    case fingers(FingerSet)
    /// None, at a reader with that hash of its name.
    case nobody(reader: [UInt8])
    /// There is no reader, or nobody who knows.
    case unreachable

    /// Whether an item that is bound to the set may be opened by a finger now; nil where that cannot be told here, since
    /// the set is of another reader.
    public func holds(_ set: FingerSet) -> Bool? {
        switch self {
        case .fingers(let found) where found.reader == set.reader: found.fingers == set.fingers
        case .nobody(let reader) where reader == set.reader: false
        case .fingers, .nobody, .unreachable: nil
        }
    }
}
