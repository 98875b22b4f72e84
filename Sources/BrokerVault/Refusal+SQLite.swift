internal import BrokerModel
internal import SQLite

extension Refusal {
    /// What a caller is told when the store fails it.
    init(_ error: SQLiteError) {
        switch error.kind {
        case .full, .inputOutput, .outOfMemory, .constraint, .misuse:
            self.init(.io, "The disk failed or is full; nothing was changed.")
        case .readOnly:
            self.init(.readOnly, "The disk that holds the store is read-only.")
        case .damaged, .cannotOpen, .busy:
            self.init(
                .notAvailable,
                "The store cannot be opened; it was left as it is, and the journal says what is wrong.")
        }
    }

    static let locked = Refusal(
        .interactionNotAllowed, "The item is locked; unlock the session and try again.")
    static let beforeFirstUnlock = Refusal(
        .interactionNotAllowed, "The keychain was not unlocked since the broker started; 'chatelaine unlock'."
    )
    static let itemNotFound = Refusal(.itemNotFound, "No such item among those of this program's groups.")
    static let duplicateItem = Refusal(
        .duplicateItem, "An item with this primary key exists; use Store or Update to change it.")
    static let damagedItem = Refusal(
        .decode, "The item is there and damaged; Delete removes it, and Add or Store replaces it.")
    static let replyTooLarge = Refusal(.tooLarge, "The reply would pass 16 MiB; use Limit.")
}

/// Runs a step on the store and gives its failure the caller's form.
func stored<Result>(_ body: () throws(SQLiteError) -> Result) throws(Refusal) -> Result {
    do throws(SQLiteError) {
        return try body()
    } catch {
        throw Refusal(error)
    }
}
