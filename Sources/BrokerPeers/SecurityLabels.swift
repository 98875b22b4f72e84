import BrokerModel
import Glibc

/// Makes a fact of what a security module says of a connection or of its process.
enum SecurityLabels {
    /// The connection's label, without its one trailing NUL; else the process's AppArmor profile. SELinux
    /// labels of processes are not read: the bus has them of every connection.
    static func find(
        ofConnection label: [UInt8]?, profile: AppArmorProfile?, isEnforcing: Bool?
    ) -> PeerFacts.SecurityLabel? {
        if let label, let found = ofConnection(label, isEnforcing: isEnforcing) { return found }
        return profile.map { PeerFacts.SecurityLabel(text: $0.name, source: .process) }
    }

    /// `isEnforcing` is nil where SELinux does not run.
    private static func ofConnection(_ label: [UInt8], isEnforcing: Bool?) -> PeerFacts.SecurityLabel? {
        if let isEnforcing {
            let source = isEnforcing ? PeerFacts.SecurityLabel.Source.selinux : .permissiveSELinux
            return text(label[...]).map { .init(text: $0, source: source) }
        }
        if AppArmorProfile.hasMode(label) {
            return AppArmorProfile(text: label).map { .init(text: $0.name, source: .connection) }
        }
        guard let text = text(label[...]), text != "unconfined" else { return nil }
        return .init(text: text, source: .connection)
    }

    /// Nil for what is no label: empty, not text, or with a NUL in it, where two readers would see two labels.
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Whether SELinux enforces what it decides; nil where it does not run.
    static func selinuxIsEnforcing() throws(SystemError) -> Bool? {
        let text = try whereReadable { () throws(SystemError) in
            try Kernel.firstPage("/sys/fs/selinux/enforce", in: nil)
        }
        return text.map { $0.first == UInt8(ascii: "1") }
    }
}
