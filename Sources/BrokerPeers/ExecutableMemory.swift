/// Which file a path named while it was at `file` trust, in this boot: so that an old image, still running
/// after an upgrade has put a new file in its place, is known when it connects again. `ExecutableFile` keeps
/// it over a restart of the broker.
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

    private(set) var records: [Record]
    /// How many records there ever were: it tells whether there is anything new.
    private(set) var additions = 0

    init(_ records: [Record] = []) {
        self.records = records.suffix(Self.recordsMax)
    }

    mutating func remember(_ record: Record) {
        if let index = records.firstIndex(of: record) {
            records.remove(at: index)
        } else {
            additions += 1
        }
        records.append(record)
        if records.count > Self.recordsMax { records.removeFirst() }
    }

    func holds(_ record: Record) -> Bool {
        records.contains(record)
    }
}
