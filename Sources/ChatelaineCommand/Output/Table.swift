internal import Console

/// Text in columns. Cells are made printable here, so that no verb can forget it.
struct Table {
    private let headings: [String]
    private var rows: [[Cell]] = []

    /// One cell.
    struct Cell {
        let text: String
        let tone: Style.Tone?

        init(_ text: String, _ tone: Style.Tone? = nil) {
            self.text = text.printable
            self.tone = tone
        }
    }

    /// A table with those headings, upper-case by custom.
    init(_ headings: [String]) { self.headings = headings }

    mutating func add(_ row: [String]) { rows.append(row.map { Cell($0) }) }

    /// The lines. Columns without any content are left out.
    func text(_ style: Style) -> String {
        let shown = headings.indices.filter { column in rows.contains { !$0[column].text.isEmpty } }
        let head = headings.map { Cell($0, .bold) }
        return Self.lines(([head] + rows).map { row in shown.map { row[$0] } }, style)
    }

    /// Lines of aligned cells without headings; the last cell of a line is as long as it likes.
    static func lines(_ rows: [[Cell]], _ style: Style) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.text.count)
            }
        }
        return rows.map { line($0, widths, style) + "\n" }.joined()
    }

    private static func line(_ row: [Cell], _ widths: [Int], _ style: Style) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            line += style.apply(cell.tone, to: cell.text)
            let isLast = row[(column + 1)...].allSatisfy(\.text.isEmpty)
            if isLast { break }
            line += String(repeating: " ", count: widths[column] - cell.text.count + 2)
        }
        return line
    }
}

/// Names with their values, one a line; a value of several parts has a line for each.
struct Fields {
    private var rows: [[Table.Cell]] = []

    init() {}

    mutating func add(_ name: String, _ value: String, _ tone: Style.Tone? = nil) {
        rows.append([Table.Cell(name, .bold), Table.Cell(value, tone)])
    }

    mutating func add(_ name: String, _ values: [String], _ tone: Style.Tone? = nil) {
        for (index, value) in values.enumerated() { add(index == 0 ? name : "", value, tone) }
    }

    func text(_ style: Style, indent: Int = 0) -> String {
        let text = Table.lines(rows, style)
        guard indent > 0 else { return text }
        let space = String(repeating: " ", count: indent)
        return text.split(separator: "\n").map { "\(space)\($0)\n" }.joined()
    }
}
