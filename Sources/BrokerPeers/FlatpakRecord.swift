/// What a Flatpak record says of its instance: `/.flatpak-info` in the sandbox, and the one of the same text
/// that Flatpak keeps outside.
struct FlatpakRecord: Equatable {
    /// The application's id.
    let application: String
    /// The number of the instance, and the name of its folder.
    let instance: String
    /// The folders that the application and its runtime were taken from; nil where they are not told in plain.
    let folders: [String]?

    /// A record holds a few hundred bytes; one of an application with many permissions some thousands.
    static let bytesMax = 64 << 10

    /// Nil for what is no record of an application's: without a name or an instance, with one told twice, or
    /// with one that could be no name. A runtime that is run by itself has no application.
    init?(text: [UInt8]) {
        guard let keys = Self.keys(of: text), let application = keys["Application/name"],
            let instance = keys["Instance/instance-id"], Self.isID(application), Self.isNumber(instance)
        else { return nil }
        self.application = application
        self.instance = instance
        let told = [keys["Instance/app-path"], keys["Instance/runtime-path"]].compactMap { $0 }
        // A backslash begins an escape. Flatpak's own folders have none, so it is left unread.
        folders = told.count == 2 && told.allSatisfy { !$0.utf8.contains(UInt8(ascii: "\\")) } ? told : nil
    }

    /// `Group/key` to value. Nil where a key stands twice: two readers could take different ones.
    private static func keys(of text: [UInt8]) -> [String: String]? {
        guard text.count <= bytesMax, !text.contains(0), let text = String(validating: text, as: UTF8.self)
        else { return nil }
        var keys: [String: String] = [:]
        var group = ""
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "#") { continue }
            if line.first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") {
                group = String(Substring(line.dropFirst().dropLast()))
                continue
            }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let key = "\(group)/\(String(Substring(line[..<equals])))"
            guard keys.updateValue(String(Substring(line[equals...].dropFirst())), forKey: key) == nil else {
                return nil
            }
        }
        return keys
    }

    /// What Flatpak takes for an application's id, as far as it matters here.
    private static func isID(_ text: String) -> Bool {
        guard (3...255).contains(text.utf8.count) else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        switch $0 {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                            true
                        default: false
                        }
                    }
            }
    }

    static func isNumber(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
