/// The last logout that a program has handled, in a file of its own: what tells it at its next start whether
/// it has missed one.
public struct HandledEpoch {
    private let file: SmallFile

    /// Kept in that file, which may not be there yet.
    public init(file: String) {
        self.file = SmallFile(path: file)
    }

    /// Nil for a program that has handled none.
    public var epoch: UInt64? {
        get { file.read().flatMap { UInt64($0) } }
        nonmutating set {
            // Unwritten, it is the older epoch at the next start: a logout is then handled twice, never missed.
            if let newValue { file.replace(by: "\(newValue)") }
        }
    }
}
