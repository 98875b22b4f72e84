/// Finds the Snap that a process belongs to.
///
/// snapd runs `snap.NAME.APP` under an AppArmor profile of that name and in a unit whose name begins with it.
/// The profile is what holds the process; a unit alone is no evidence, since anybody can start one of any
/// name. So a Snap on a machine without AppArmor, or one in development mode, has no Snap evidence.
enum SnapProof {
    /// The name of the Snap, an instance key included.
    static func find(profile: AppArmorProfile?, group: ControlGroup?) -> String? {
        guard let profile, let unit = group?.unit else { return nil }
        let parts = profile.name.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        guard parts.count == 3, parts[0] == "snap", isName(parts[1]), isApplication(parts[2]) else {
            return nil
        }
        let rest = unit.utf8.dropFirst(profile.name.utf8.count)
        guard unit.utf8.starts(with: profile.name.utf8), let next = rest.first,
            next == UInt8(ascii: ".") || next == UInt8(ascii: "-"),
            unit.hasSuffix(".scope") || unit.hasSuffix(".service")
        else { return nil }
        return parts[1]
    }

    /// Small letters, digits and hyphens, and perhaps `_` and a key.
    private static func isName(_ text: String) -> Bool {
        text.utf8.first != UInt8(ascii: "_")
            && isMadeOf(text) { isSmall($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// An application's name, or `hook.NAME`.
    private static func isApplication(_ text: String) -> Bool {
        isMadeOf(text) {
            isSmall($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || "-.".utf8.contains($0)
        }
    }

    private static func isMadeOf(_ text: String, _ isAllowed: (UInt8) -> Bool) -> Bool {
        !text.isEmpty && text.utf8.count <= 128 && text.utf8.allSatisfy(isAllowed)
    }

    private static func isSmall(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
