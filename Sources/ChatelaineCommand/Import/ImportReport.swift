internal import Console
internal import SDBus

/// What an import says: how many and where, and nothing of what is in them.
@BrokerActor struct ImportReport {
    private let context: Context

    init(_ context: Context) { self.context = context }

    /// What would be done.
    func plan(_ run: ImportRun) throws(Failure) {
        guard !context.invocation.isJSON else { return }
        var text = "From \(run.place.name.printable):\n"
        text += table(run)
        for entry in run.entries {
            if let line = line(entry) { text += "  \(entry.candidate.place.printable) \(line)\n" }
        }
        for remark in run.place.remarks { text += "  \(remark.printable)\n" }
        try Streams.write(text)
    }

    /// What was copied.
    func copied(_ run: ImportRun) throws(Failure) {
        guard !context.invocation.isJSON else { return }
        try Streams.write("Copied \(run.copied), of which \(run.verified) were read back and are the same.\n")
    }

    /// How it ended.
    func end(_ run: ImportRun, wasWanted: Bool) throws(Failure) {
        guard !context.invocation.isJSON else { return try Streams.write(json(run).text + "\n") }
        for trouble in run.troubles { try Streams.write("  \(trouble.printable)\n") }
        if !wasWanted {
            return try Streams.write(
                run.toCopy > 0 ? "Nothing was changed; --apply copies.\n" : "There is nothing to copy.\n")
        }
        if let removed = run.removed {
            try Streams.write("Removed \(removed) from \(run.place.name.printable).\n")
        } else if run.removable > 0 {
            try Streams.write("The old ones are where they were; --apply --remove-old removes them.\n")
        }
        if run.removable > 0, let advice = run.place.advice { try Streams.write("\(advice)\n") }
    }

    private func table(_ run: ImportRun) -> String {
        var rows: [Candidate.Section: Counts] = [:]
        for entry in run.entries { rows[entry.candidate.section, default: Counts()].add(entry.state) }
        var table = Table(["COLLECTION", "SCHEMA", "TO COPY", "THERE", "DIFFERENT", "UNUSABLE", "GROUP"])
        for (section, counts) in rows.sorted(by: { Self.order($0.key, $1.key) }) {
            table.add([
                section.collection, section.schema, String(counts.new), String(counts.there),
                String(counts.different), String(counts.unusable),
                counts.groups.sorted().joined(separator: " "),
            ])
        }
        return rows.isEmpty ? "" : table.text(context.style)
    }

    private static func order(_ one: Candidate.Section, _ other: Candidate.Section) -> Bool {
        (one.collection, one.schema) < (other.collection, other.schema)
    }

    private struct Counts {
        var (new, there, different, unusable) = (0, 0, 0, 0)
        var groups: Set<String> = []

        mutating func add(_ state: ImportRun.State) {
            switch state {
            case .new: new += 1
            case .there: there += 1
            case .different: different += 1
            case .unusable, .unknown: unusable += 1
            }
            if let group = state.group { groups.insert(group) }
        }
    }

    // Nil where there is nothing to decide.
    private func line(_ entry: ImportRun.Entry) -> String? {
        switch entry.state {
        case .different(_, nil): "is there with another secret; --replace takes this one"
        case .different(_, let isOlder?):
            "is there with another secret, which is the \(isOlder ? "older" : "newer"); --replace takes this one"
        case .unusable(let reason): "cannot be taken: \(reason)"
        case .new, .there, .unknown: nil
        }
    }

    private func json(_ run: ImportRun) -> JSON {
        var counts = Counts()
        for entry in run.entries { counts.add(entry.state) }
        let different = run.entries.filter { if case .different = $0.state { true } else { false } }
        let unusable = run.entries.compactMap { entry in
            if case .unusable(let reason) = entry.state { (entry.candidate.place, reason) } else { nil }
        }
        return .object([
            JSON.Member("Source", .string(run.place.kind)), JSON.Member("Place", .string(run.place.name)),
            JSON.Member("Groups", .strings(counts.groups.sorted())),
            JSON.Member("New", .number(UInt64(counts.new))),
            JSON.Member("There", .number(UInt64(counts.there))),
            JSON.Member("Different", .strings(different.map(\.candidate.place))),
            JSON.Member(
                "Unusable",
                .array(
                    unusable.map {
                        .object([JSON.Member("Place", .string($0.0)), JSON.Member("Reason", .string($0.1))])
                    })),
            JSON.Member("Left", .strings(run.place.remarks + run.troubles)),
            JSON.Member("Copied", .number(UInt64(run.copied))),
            JSON.Member("Verified", .number(UInt64(run.verified))),
            JSON.Member("Removed", .number(UInt64(run.removed ?? 0))),
        ])
    }
}
