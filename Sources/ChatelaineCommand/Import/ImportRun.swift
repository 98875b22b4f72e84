internal import BrokerModel
internal import Chatelaine
internal import SDBus

/// One import, step by step. It keeps no secret.
@BrokerActor struct ImportRun {
    let place: any OldPlace
    private let replacing: Replacing
    private(set) var entries: [Entry]
    /// How many were copied, and how many of those the broker has by its own word.
    private(set) var (copied, verified) = (0, 0)
    private(set) var removed: Int?
    /// What could not be removed.
    private(set) var troubles: [String] = []

    /// What becomes of what is there with another secret.
    enum Replacing {
        /// It stays.
        case nothing
        /// It is replaced where the old place's was changed later.
        case older
        /// It is replaced.
        case everything
    }

    /// What is known of a candidate.
    struct Entry {
        let candidate: Candidate
        var state: State
    }

    /// How it stands with a candidate.
    enum State {
        /// Not looked at yet.
        case unknown
        /// Not in the new place.
        case new(group: String)
        /// There.
        case there(group: String)
        /// There with another secret.
        case different(group: String, isOlder: Bool?)
        /// Cannot be moved, and why.
        case unusable(String)

        var group: String? {
            switch self {
            case .new(let group), .there(let group), .different(let group, _): group
            case .unknown, .unusable: nil
            }
        }
    }

    init(_ place: any OldPlace, _ replacing: Replacing) {
        self.place = place
        self.replacing = replacing
        entries = place.candidates.map { Entry(candidate: $0, state: .unknown) }
    }

    /// Looks what is in the new place.
    mutating func look() async throws(Failure) {
        for index in entries.indices { try await ask(.look, index) }
    }

    /// How many would be copied.
    var toCopy: Int { entries.count { mode(for: $0) != nil } }

    /// Copies, and has each read back.
    mutating func copy() async throws(Failure) {
        for index in entries.indices {
            guard let mode = mode(for: entries[index]) else { continue }
            guard try await ask(mode, index) else { continue }
            copied += 1
            try await ask(.look, index)
            if case .there = entries[index].state { verified += 1 }
        }
    }

    /// How many are in the new place, and could go from the old one.
    var removable: Int {
        entries.count { if case .there = $0.state { true } else { false } }
    }

    /// Removes the old.
    mutating func removeOld() async throws(Failure) {
        var troubles: [String] = []
        removed = try await place.removeOld(&troubles)
        self.troubles = troubles
    }

    /// Whether all that can be moved is in the new place.
    var isComplete: Bool { removable == entries.count && !place.hasMistakes && troubles.isEmpty }

    private func mode(for entry: Entry) -> ImportMode? {
        switch (entry.state, replacing) {
        case (.new, _): .add
        case (.different, .everything), (.different(_, isOlder: true), .older): .replace
        default: nil
        }
    }

    /// Whether the broker has taken it just now.
    @discardableResult
    private mutating func ask(_ mode: ImportMode, _ index: Int) async throws(Failure) -> Bool {
        let candidate = entries[index].candidate
        do throws(ImportTrouble) {
            let answer = try await candidate.ask(mode)
            entries[index].state = Self.state(answer, candidate)
            return answer.outcome == .added || answer.outcome == .replaced
        } catch {
            entries[index].state = .unusable(try error.ofOneItem)
            return false
        }
    }

    private static func state(_ answer: ImportAnswer, _ candidate: Candidate) -> State {
        switch answer.outcome {
        case .absent: .new(group: answer.group)
        case .there, .added, .replaced: .there(group: answer.group)
        case .different:
            .different(group: answer.group, isOlder: candidate.modified.map { answer.modified < $0 })
        }
    }
}
