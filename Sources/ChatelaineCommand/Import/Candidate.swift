internal import BrokerModel
internal import Chatelaine
internal import SDBus

/// Something in an old place that may be moved.
@BrokerActor struct Candidate {
    /// Where it is there, for a person; nothing of what it says.
    let place: String
    /// The part of the old place that it is in: what the plan counts by.
    let section: Section
    /// When it was last changed there, in microseconds since the Unix epoch; nil where the old place does not say.
    let modified: UInt64?
    /// Has the broker compare it, or take it, as it is in the old place by now.
    let ask: @BrokerActor (ImportMode) async throws(ImportTrouble) -> ImportAnswer

    /// A part of the old place.
    struct Section: Hashable, Sendable {
        /// A collection's label; empty for a file.
        let collection: String
        /// Which programs' items; empty where nothing says that.
        let schema: String
    }
}

/// Why something could not be moved.
enum ImportTrouble: Error, Sendable {
    /// This alone; why, for a person.
    case item(String)
    /// Nothing can.
    case all(Failure)

    /// Why one item cannot be moved; throws where nothing can.
    var ofOneItem: String {
        get throws(Failure) {
            switch self {
            case .item(let reason): return reason
            case .all(let failure): throw failure
            }
        }
    }

    init(_ error: ChatelaineError) {
        switch error.kind {
        case .param, .tooLarge, .quotaExceeded, .decode, .noSuchAttribute, .notAvailable:
            self = .item(Failure(error).text)
        default: self = .all(Failure(error))
        }
    }
}

/// Runs a call for one candidate.
@BrokerActor func forCandidate<Value>(
    _ body: @BrokerActor () async throws(ChatelaineError) -> Value
) async throws(ImportTrouble) -> Value {
    do throws(ChatelaineError) {
        return try await body()
    } catch {
        throw ImportTrouble(error)
    }
}

/// An old place, with what can be moved from it.
@BrokerActor protocol OldPlace {
    /// For a person.
    var name: String { get }
    /// A word for programs.
    var kind: String { get }
    /// What can be moved.
    var candidates: [Candidate] { get }
    /// What stays in any case, and why.
    var remarks: [String] { get }
    /// Whether something there is not as it should be.
    var hasMistakes: Bool { get }
    /// What to do with the new place, for a person who has moved.
    var advice: String? { get }
    /// Removes what is in the new place by then, and says how many that was. What cannot be removed is in `troubles`.
    func removeOld(_ troubles: inout [String]) async throws(Failure) -> Int
}
