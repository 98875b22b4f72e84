import BrokerModel
import Glibc

/// Finds the Flatpak instance that a process belongs to. Over Flatpak that process is its proxy to the bus,
/// which runs in the application's scope and has the application's record in its root.
///
/// Three things must agree, each of which a process of the same user could forge, but not by accident: the
/// record inside, the name of the scope, and the record that Flatpak keeps outside with the process that it
/// names. What does not agree vouches for nothing, and the process stays one in namespaces of its own, of
/// which nothing is known.
struct FlatpakProof {
    let process: ProcessFolder
    let userID: UInt32
    let group: ControlGroup?
    /// Where paths begin: PID 1's root, or the broker's.
    let root: Descriptor
    /// Where processes are looked up.
    var processes = "/proc"

    func find() throws(SystemError) -> PeerFacts.Flatpak? {
        guard let unit = group?.unit(ofUser: userID),
            let inner = try innerRecord(), Self.isScope(unit, of: inner.application),
            try outerRecordAgrees(with: inner)
        else { return nil }
        return PeerFacts.Flatpak(
            id: inner.application, trust: try isInstalledByRoot(inner) ? .file : .user)
    }

    private func innerRecord() throws(SystemError) -> FlatpakRecord? {
        let text = try whereReadable { () throws(SystemError) in
            try Kernel.regularFile(".flatpak-info", in: process.root(), limit: FlatpakRecord.bytesMax).bytes
        }
        return text.flatMap(FlatpakRecord.init(text:))
    }

    /// `app-flatpak-ID-NUMBER.scope`. The number is that of the starting process in some releases and that of
    /// the instance in others, so nothing hangs on it.
    static func isScope(_ unit: String, of application: String) -> Bool {
        let start = "app-flatpak-\(UnitName.escaped(application))-"
        guard unit.hasPrefix(start), unit.hasSuffix(".scope") else { return false }
        return FlatpakRecord.isNumber(String(unit.dropFirst(start.count).dropLast(6)))
    }

    /// `$XDG_RUNTIME_DIR/.flatpak/INSTANCE`, the user's own, followed over no link.
    private func outerRecordAgrees(with inner: FlatpakRecord) throws(SystemError) -> Bool {
        let found = try whereReadable { () throws(SystemError) in
            var folder = root
            for name in ["run", "user", "\(userID)", ".flatpak", inner.instance] {
                folder = try Kernel.open(name, in: folder, O_DIRECTORY | O_NOFOLLOW | pathOnly)
            }
            let info = try Kernel.regularFile("info", in: folder, limit: FlatpakRecord.bytesMax)
            return try (folder: folder, folderOwner: folder.status().owner, info: info)
        }
        guard let found, found.folderOwner == userID, found.info.status.owner == userID,
            FlatpakRecord(text: found.info.bytes) == inner
        else { return false }
        return try firstProcessAgrees(found.folder)
    }

    /// The sandbox's first process must be where its record says, in the same scope and of the same user. One
    /// that has ended, or that is hidden, says nothing.
    private func firstProcessAgrees(_ folder: Descriptor) throws(SystemError) -> Bool {
        let text = try whereReadable { () throws(SystemError) in
            try Kernel.regularFile("pid", in: folder, limit: 32).bytes
        }
        guard let text else { return false }
        guard let number = UInt32(String(decoding: text, as: UTF8.self).filter { $0 != "\n" }), number > 0
        else { return false }
        let first = try whereReadable { () throws(SystemError) in
            let first = try ProcessFolder(path: "\(processes)/\(number)")
            return try (group: first.controlGroup(), userIDs: first.userIDs())
        }
        guard let first else { return true }
        return first.group == group && first.userIDs.contains(userID)
    }

    /// Whether nobody but root could have put the application and its runtime where they were taken from.
    private func isInstalledByRoot(_ record: FlatpakRecord) throws(SystemError) -> Bool {
        guard let folders = record.folders else { return false }
        for folder in folders where try !PathWalk.isGuardedFolder(folder, from: root) { return false }
        return true
    }
}
