internal import BrokerModel
internal import SDBus
internal import Sodium

/// The items of the collection `session`: in locked memory, and gone with the broker.
@BrokerActor final class MemoryCollection {
    struct Item {
        let reference: Reference
        let group: AccessGroup
        var content: SecretItem.Content
        let created: UInt64
        var modified: UInt64
        var secret: SharedSecret

        var size: Int { secret.secret.count + content.label.utf8.count + content.lookup.encoded.count }
    }

    private var items: [Reference: Item] = [:]
    private var bytes: [AccessGroup: Int] = [:]

    /// Of one group: it is locked memory, and there is little.
    private static let itemsMax = 256
    private static let bytesMax = 1 << 20

    subscript(reference: Reference) -> Item? { items[reference] }

    /// The items of the groups that have the attributes.
    func items(of groups: [AccessGroup], _ filter: LookupAttributes) -> [Item] {
        items.values.filter { groups.contains($0.group) && $0.content.lookup.contains(filter) }
    }

    /// Adds an item, or puts it in the place of the one of the same reference. `QuotaExceeded`.
    func put(_ item: Item) throws(Refusal) {
        let old = items[item.reference]
        let sum = bytes[item.group, default: 0] + item.size - (old?.size ?? 0)
        let count = items.values.count { $0.group == item.group } + (old == nil ? 1 : 0)
        guard sum <= Self.bytesMax, count <= Self.itemsMax else {
            throw Refusal(.quotaExceeded, "The collection 'session' is in memory, and full; delete items.")
        }
        items[item.reference] = item
        bytes[item.group] = sum
    }

    /// Nothing is left of an item.
    func remove(_ reference: Reference) {
        guard let item = items.removeValue(forKey: reference) else { return }
        bytes[item.group, default: 0] -= item.size
    }

    /// Nothing is left of a group.
    func remove(_ group: AccessGroup) {
        items = items.filter { $0.value.group != group }
        bytes[group] = nil
    }
}
