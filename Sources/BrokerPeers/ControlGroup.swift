/// Where a process lies among systemd's units, by the path of its control group.
///
/// The rules are systemd's own (`cg_path_get_unit`): slices first, then the unit, and whatever a unit has
/// below itself is the unit's. One rule is stricter. Of a user's slice nothing counts but what that user's
/// manager runs: a login session is the user's, whoever made its scope.
enum ControlGroup: Sendable, Equatable {
    case systemUnit(String)
    case userUnit(String, userID: UInt32)

    /// From the text of `/proc/PID/cgroup`. The unified hierarchy and systemd's own one of version 1 may both
    /// be there, and one of them unused; where both are used they must agree.
    init?(processText: [UInt8]) {
        var paths: Set<[UInt8]> = []
        for line in processText.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            let isUnified = fields[0].elementsEqual("0".utf8) && fields[1].isEmpty
            guard isUnified || fields[1].elementsEqual("name=systemd".utf8) else { continue }
            if !fields[2].elementsEqual("/".utf8) { paths.insert(Array(fields[2])) }
        }
        guard paths.count == 1, let path = paths.first else { return nil }
        self.init(path: path)
    }

    /// From a path in the hierarchy. One outside of the broker's own view begins with `/..`.
    init?(path: [UInt8]) {
        guard path.first == UInt8(ascii: "/"), let text = String(validating: path, as: UTF8.self) else {
            return nil
        }
        var names = text.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { UnitName.unescaped(Substring($0)) }[...]
        let isOfUsers = names.first == "user.slice"
        guard let unit = UnitName.firstUnit(&names) else { return nil }
        if let userID = UnitName.managedUser(unit) {
            guard let own = UnitName.firstUnit(&names) else { return nil }
            self = .userUnit(own, userID: userID)
            return
        }
        if isOfUsers || UnitName.isSession(unit) { return nil }
        self = .systemUnit(unit)
    }
}

extension ControlGroup {
    /// The unit's name, whoever runs it.
    var unit: String {
        switch self {
        case .systemUnit(let name): name
        case .userUnit(let name, _): name
        }
    }

    /// The unit's name if the manager of that user runs it.
    func unit(ofUser userID: UInt32) -> String? {
        if case .userUnit(let name, userID) = self { name } else { nil }
    }
}

/// The names of systemd's units, as far as control groups show them.
enum UnitName {
    /// Takes slices off the front, then one unit. Nil where something else stands there.
    static func firstUnit(_ names: inout ArraySlice<String>) -> String? {
        while let name = names.first, isValid(name, kinds: [".slice"]) { names.removeFirst() }
        guard let name = names.popFirst(), isValid(name, kinds: kinds) else { return nil }
        return name
    }

    /// Those that have processes.
    private static let kinds = [".service", ".scope", ".socket", ".mount", ".swap"]

    private static func isValid(_ name: String, kinds: [String]) -> Bool {
        guard name.utf8.count <= 255, let kind = kinds.first(where: name.hasSuffix) else { return false }
        let stem = name.utf8.dropLast(kind.utf8.count)
        guard let first = stem.first, first != UInt8(ascii: "@") else { return false }
        return stem.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: ":-_.\\@".utf8.contains(byte)
            }
        }
    }

    /// systemd puts a `_` before a name that the kernel could take for a file of its own.
    static func unescaped(_ name: Substring) -> String {
        String(name.utf8.first == UInt8(ascii: "_") ? name.dropFirst() : name)
    }

    /// The user id of `user@UID.service`.
    static func managedUser(_ unit: String) -> UInt32? {
        guard unit.hasPrefix("user@"), unit.hasSuffix(".service") else { return nil }
        let text = unit.dropFirst(5).dropLast(8)
        return UInt32(text).flatMap { String($0) == text ? $0 : nil }
    }

    static func isSession(_ unit: String) -> Bool {
        unit.hasPrefix("session-") && unit.hasSuffix(".scope")
    }

    /// A text as systemd writes it inside a unit's name: all but letters, digits, `:`, `_` and `.` as `\xHH`.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for (index, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "_"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where index > 0: escaped += "."
            case UInt8(ascii: "/"): escaped += "-"
            default:
                let digits = String(byte, radix: 16)
                escaped += "\\x" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return escaped
    }
}
