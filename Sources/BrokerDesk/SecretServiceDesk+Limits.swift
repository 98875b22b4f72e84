internal import BrokerModel

extension SecretServiceDesk {
    /// `TooLarge` for an item that has more than an item may have, in the vault or in memory.
    static func checkSize(_ content: SecretItem.Content) throws(Refusal) {
        let pairs = content.lookup.pairs
        // Each is a word of the index.
        guard pairs.count <= Limits.dictionaryEntriesMax else {
            throw Refusal(.tooLarge, "An item has 128 attributes at most.")
        }
        try checkSize(content.label)
        try checkSize(content.contentType)
        var bytes = content.label.utf8.count + content.contentType.utf8.count
        for pair in pairs {
            try checkSize(pair.name.count)
            try checkSize(pair.value.count)
            bytes += pair.name.count + pair.value.count
        }
        guard bytes <= Limits.itemAttributesBytesMax else {
            throw Refusal(.tooLarge, "The label and the attributes of one item have 256 KiB at most.")
        }
    }

    /// `TooLarge` for a longer text than the broker keeps.
    static func checkSize(_ text: String) throws(Refusal) { try checkSize(text.utf8.count) }

    static func checkSize(_ bytes: Int) throws(Refusal) {
        guard bytes <= Limits.attributeValueBytesMax else {
            throw Refusal(
                .tooLarge, "A label, an alias, and the name and value of an attribute have 64 KiB at most.")
        }
    }
}
