import BrokerModel

extension Explainer {
    /// What `[SecretService]` says of the secrets that the caller stores there.
    var foreground: [String] {
        let what = "of org.freedesktop.secrets are read while unlocked alone"
        if let place = rules.foregroundGroups[group] {
            return ["The secrets of its items \(what): WhenUnlocked= (\(place))."]
        }
        let schemas = rules.secretService.foregroundSchemas.map {
            "\($0.pattern.text.printable) (line \($0.line))"
        }
        guard let section = rules.secretServicePlace, !schemas.isEmpty else { return [] }
        let list = schemas.joined(separator: ", ")
        return ["By their xdg:schema some secrets \(what): \(list) of \(section.file.printable)."]
    }
}
