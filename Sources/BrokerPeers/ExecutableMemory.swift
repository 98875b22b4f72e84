/// Which file a path named while it was at `file` trust, for this run of the broker: so that an old image,
/// still running after an upgrade has put a new file in its place, is known when it connects again.
///
/// An inode number may be given anew once its file is gone for good; the birth time tells the two apart. The
/// oldest are forgotten, and with them such an image has no executable, which is no harm to anybody else.
struct ExecutableMemory: Sendable {
    struct Record: Sendable, Equatable {
        let path: String
        let file: FileID
        let birth: BirthTime
    }

    /// More than a desktop has programs running.
    static let recordsMax = 1024

    private(set) var records: [Record] = []

    mutating func remember(_ record: Record) {
        records.removeAll { $0 == record }
        records.append(record)
        if records.count > Self.recordsMax { records.removeFirst() }
    }

    func holds(_ record: Record) -> Bool {
        records.contains(record)
    }
}
