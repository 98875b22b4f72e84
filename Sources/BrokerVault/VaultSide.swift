internal import BrokerModel
internal import SQLite

/// One of the two vaults, as a type: rows, keys and tables of the one cannot be used with those of the
/// other. Code that holds `ClassKeys<Background>` has no way to name a foreground row's key.
protocol VaultSide {
    static var side: Accessibility.Side { get }
    /// The table of its items.
    static var table: String { get }
    /// The statements that every call needs, written once.
    static var statements: ItemStatements { get }
}

/// The after-first-unlock classes.
enum Background: VaultSide {
    static let side = Accessibility.Side.background
    static let table = "background_items"
    static let statements = ItemStatements(table: table)
}

/// The when-unlocked and passcode-set classes.
enum Foreground: VaultSide {
    static let side = Accessibility.Side.foreground
    static let table = "foreground_items"
    static let statements = ItemStatements(table: table)
}

/// The statements of one side's table that are on the way of every call.
struct ItemStatements: Sendable {
    let select: SQL
    let selectByReference: SQL
    let idOfReference: SQL
    let put: SQL

    init(table: String) {
        let columns = """
            id, group_id, item_class, class_key, reference, revision, created, modified, expires, fresh_until,
            synchronizable, gated, primary_token, tokens, size, attributes, secret
            """
        select = SQL("SELECT \(columns) FROM \(table) WHERE id = ?1")
        selectByReference = SQL("SELECT \(columns) FROM \(table) WHERE reference = ?1")
        idOfReference = SQL("SELECT id FROM \(table) WHERE reference = ?1")
        put = SQL(
            """
            INSERT OR REPLACE INTO \(table) (\(columns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            """)
    }
}
