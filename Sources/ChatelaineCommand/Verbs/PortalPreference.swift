internal import BrokerHost

/// What the user's portals.conf says of the Secret portal (portals.conf(5)).
enum PortalPreference {
    /// The file that decides, where it prefers this backend: that of the desktop comes before that of all.
    static var file: String? {
        let home = HostEnvironment.variable("HOME").map { $0 + "/.config" }
        guard let base = HostEnvironment.variable("XDG_CONFIG_HOME") ?? home else { return nil }
        let desktops = HostEnvironment.variable("XDG_CURRENT_DESKTOP")?.split(separator: ":") ?? []
        let names = desktops.map { "\($0.lowercased())-portals.conf" } + ["portals.conf"]
        let folders = [base] + ["/etc/xdg", "/etc", "/usr/share"]
        for folder in folders {
            for name in names {
                let path = "\(folder)/xdg-desktop-portal/\(name)"
                if let text = HostKernel.text(path) { return prefersChatelaine(text) ? path : nil }
            }
        }
        return nil
    }

    static func prefersChatelaine(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "org.freedesktop.impl.portal.Secret" else { return false }
            return parts[1].split(separator: ";").first == "chatelaine"
        }
    }
}
