public import BrokerModel
import Glibc

/// Keeps what the broker remembers of programs in its runtime folder, for this boot (POLICY, rule 3).
///
/// It is an aid and never a need. A file that is damaged, of another boot, not the broker's own or writable
/// by others is as none, and one that cannot be written is given up without a word: the broker then
/// remembers for as long as it runs.
public struct ExecutableFile: Sendable {
    private let folder: String
    private let worker: any BlockingWorker

    static let name = "executables"
    static let bytesMax = 1 << 20

    /// `folder` is made where it is missing; `worker` writes.
    public init(folder: String, worker: any BlockingWorker) {
        self.folder = folder
        self.worker = worker
    }

    /// For start, before anything is served.
    func load() -> [ExecutableMemory.Record] {
        guard let boot = Self.bootID(), let folder = try? Self.own(folder),
            let file = try? Kernel.regularFile(Self.name, in: folder, limit: Self.bytesMax),
            file.status.isOwn
        else { return [] }
        return ExecutableText.records(in: file.bytes, boot: boot) ?? []
    }

    func save(_ records: [ExecutableMemory.Record]) async {
        let path = folder
        await worker.run {
            guard let boot = Self.bootID() else { return }
            let text = ExecutableText.text(of: records, boot: boot, limit: Self.bytesMax)
            try? Self.replace(text, in: path)
        }
    }

    private static func replace(_ text: [UInt8], in path: String) throws(SystemError) {
        unsafe mkdir(path, 0o755)
        let folder = try own(path)
        let new = "\(name).new"
        unsafe unlinkat(folder.raw, new, 0)
        let file = try Kernel.create(new, in: folder, 0o600)
        // A name that is there must stand for a whole file, so a write that falls short is none.
        guard unsafe write(file.raw, text, text.count) == text.count,
            unsafe renameat(folder.raw, new, folder.raw, name) == 0
        else {
            let error = SystemError.last
            unsafe unlinkat(folder.raw, new, 0)
            throw error
        }
    }

    private static func own(_ path: String) throws(SystemError) -> Descriptor {
        let folder = try Kernel.open(path, in: nil, O_DIRECTORY | O_NOFOLLOW | pathOnly)
        guard try folder.status().isOwn else { throw SystemError(code: EPERM) }
        return folder
    }

    private static func bootID() -> String? {
        guard let text = try? Kernel.firstPage("/proc/sys/kernel/random/boot_id", in: nil) else { return nil }
        let id = String(decoding: text, as: UTF8.self).filter { $0 != "\n" }
        return id.isEmpty ? nil : id
    }
}

extension FileStatus {
    /// The broker's own, and writable by nobody else.
    fileprivate var isOwn: Bool { owner == geteuid() && permissions & (S_IWGRP | S_IWOTH) == 0 }
}

/// The file's text: a line with the boot, then one for each record.
enum ExecutableText {
    private static func header(_ boot: String) -> String { "chatelaine-executables 1 \(boot)" }

    /// The newest records that fit. A path with a line feed has no place in a line, and is left out.
    static func text(of records: [ExecutableMemory.Record], boot: String, limit: Int) -> [UInt8] {
        var lines: [[UInt8]] = []
        let header = Array("\(header(boot))\n".utf8)
        var size = header.count
        for record in records.reversed() where !record.path.utf8.contains(UInt8(ascii: "\n")) {
            let line = Array(
                "\(record.file.device) \(record.file.inode) \(record.birth.seconds) \(record.birth.nanoseconds) \(record.path)\n"
                    .utf8)
            size += line.count
            if size > limit { break }
            lines.append(line)
        }
        return header + lines.reversed().joined()
    }

    /// All of them, or nil: of a file with one bad line none is believed.
    static func records(in text: [UInt8], boot: String) -> [ExecutableMemory.Record]? {
        guard let text = String(validating: text, as: UTF8.self), text.utf8.last == UInt8(ascii: "\n") else {
            return nil
        }
        var records: [ExecutableMemory.Record] = []
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        guard lines.first?.elementsEqual(header(boot).utf8) == true else { return nil }
        for line in lines.dropFirst() {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 4).map { String(Substring($0)) }
            guard fields.count == 5, let device = UInt64(fields[0]), let inode = UInt64(fields[1]),
                let seconds = Int64(fields[2]), let nanoseconds = UInt32(fields[3]), fields[4].hasPrefix("/")
            else { return nil }
            records.append(
                .init(
                    path: fields[4], file: FileID(device: device, inode: inode),
                    birth: BirthTime(seconds: seconds, nanoseconds: nanoseconds)))
        }
        return records
    }
}
