internal import Chatelaine
internal import Console

extension Attributes {
    /// An object with the contract's keys.
    var json: JSON { .object(entries.map { JSON.Member($0.key, $0.value.json) }) }

    /// A line for each.
    func text(_ style: Style) -> String {
        var fields = Fields()
        for entry in entries { fields.add(entry.key, entry.value.text(of: entry.key)) }
        return fields.text(style)
    }

    /// The value of a key for a person; empty where there is none.
    func text(of key: String) -> String { self[key]?.text(of: key) ?? "" }

    private static let times: Set = ["Created", "Modified", "Expires", "FreshUntil"]

    fileprivate static func isTime(_ key: String) -> Bool { times.contains(key) }
}

extension Attributes.Value {
    fileprivate var json: JSON {
        switch self {
        case .text(let text): .string(text)
        case .bytes(let bytes): .object([JSON.Member("Base64", .string(Base64.text(bytes)))])
        case .number(let number): .number(number)
        case .flag(let flag): .flag(flag)
        case .counter(let counter): .number(counter)
        case .accessControl(let protection, let flags):
            .object([
                JSON.Member("Protection", .string(protection)), JSON.Member("Flags", .strings(flags)),
            ])
        }
    }

    fileprivate func text(of key: String) -> String {
        switch self {
        case .text(let text): text
        case .bytes(let bytes): "base64:" + Base64.text(bytes)
        case .number(let number): String(number)
        case .flag(let flag): flag ? "yes" : "no"
        case .counter(let counter): Attributes.isTime(key) ? Moment.text(counter) : String(counter)
        case .accessControl(let protection, let flags): ([protection] + flags).joined(separator: " ")
        }
    }
}
