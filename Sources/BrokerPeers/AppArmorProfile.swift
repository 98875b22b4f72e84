/// What AppArmor says of a process: the profile's name, and whether it is held to it.
///
/// `attr/apparmor/current` is read and not `attr/current`, which speaks for whichever module is there. Where
/// AppArmor does not run, the file is absent or refuses to be read.
struct AppArmorProfile: Equatable {
    let name: String

    /// From `NAME (MODE)` and a line feed, as the kernel writes it, or without the line feed, as a socket has
    /// it. Nil for `unconfined`, which stands alone, and for every mode in which a profile only logs: nothing
    /// was decided about such a process.
    init?(text: [UInt8]) {
        var text = text[...]
        if text.last == UInt8(ascii: "\n") { text.removeLast() }
        guard
            let mode = Self.enforcing.first(where: {
                text.count > $0.count && text.suffix($0.count) == $0[...]
            })
        else { return nil }
        guard let name = SecurityLabels.text(text.dropLast(mode.count)) else { return nil }
        self.name = name
    }

    /// `kill` enforces too: it ends who offends.
    private static let enforcing = [" (enforce)", " (kill)"].map { Array($0.utf8) }

    /// The mode at the end of what AppArmor writes, of whatever kind.
    static func hasMode(_ text: [UInt8]) -> Bool {
        guard text.last == UInt8(ascii: ")"), let start = text.lastIndex(of: UInt8(ascii: "(")), start > 1
        else { return false }
        return text[start - 1] == UInt8(ascii: " ")
    }

    static func of(_ process: ProcessFolder) throws(SystemError) -> AppArmorProfile? {
        let text = try whereReadable { () throws(SystemError) in try process.appArmorText() }
        return text.flatMap { AppArmorProfile(text: $0) }
    }
}
