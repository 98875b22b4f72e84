extension String {
    /// As it may stand in a log and on a terminal: programs and users choose their names and write their files.
    var plain: String {
        let kept = unicodeScalars.prefix(400).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: "?"
            default: String(scalar)
            }
        }
        return kept.joined()
    }
}
