internal import Foundation

/// The last logout that a program has handled, in a file of its own: what tells it at its next start whether
/// it has missed one.
public struct HandledEpoch {
    private let file: String

    /// Kept in that file, which may not be there yet.
    public init(file: String) {
        self.file = file
    }

    /// Nil for a program that has handled none.
    public var epoch: UInt64? {
        get { (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { UInt64($0) } }
        nonmutating set {
            // Unwritten, it is the older epoch at the next start: a logout is then handled twice, never missed.
            try? newValue.map { "\($0)" }?.write(toFile: file, atomically: true, encoding: .utf8)
        }
    }
}
