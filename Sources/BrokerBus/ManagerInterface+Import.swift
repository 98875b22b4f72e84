internal import BrokerModel
internal import SDBus
internal import Sodium

extension Dispatch {
    /// The calls of a person who moves in (INTERFACE, Manager).
    @InterfaceBuilder func imports() -> [InterfaceMember] {
        Method(
            "ImportItem", in: ["group", "mode", "attributes", "secret"],
            out: ["outcome", "where", "modified"]
        ) {
            (
                call: borrowing Call, group: String, mode: String, attributes: WireAttributes,
                secret: SealedSecret
            ) throws(BusError) -> Answer<(String, String, UInt64)> in
            let context = try context(call)
            let dictionary = try open(attributes, context)
            let secret = try open(secret, context)
            return try answer(context) { () throws(Refusal) in
                try service.importItem(context, group: group, mode: mode, dictionary, secret)
            } _: {
                ($0.outcome.rawValue, $0.group.name, $0.modified)
            }
        }.sensitive
        Method(
            "ImportSecret",
            in: ["group", "mode", "collection", "label", "attributes", "type", "secret"],
            out: ["outcome", "where", "modified"]
        ) {
            (
                call: borrowing Call, group: String, mode: String, collection: String, label: String,
                attributes: LookupAttributes, type: String, secret: SealedSecret
            ) throws(BusError) -> Answer<(String, String, UInt64)> in
            let context = try context(call)
            let secret = try open(secret, context)
            let content = SecretItem.Content(
                label: label, lookup: attributes, contentType: type)
            return try answer(context) { () throws(Refusal) in
                try service.importSecret(
                    context, group: group, mode: mode, collection: collection, content, secret)
            } _: {
                ($0.outcome.rawValue, $0.group.name, $0.modified)
            }
        }.sensitive
    }
}
