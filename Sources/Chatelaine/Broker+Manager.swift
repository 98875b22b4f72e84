internal import BrokerBus
public import BrokerModel
internal import SDBus
public import Sodium

extension Broker {
    /// The manager's properties.
    public func status() async throws(ChatelaineError) -> Status {
        try await call("org.freedesktop.DBus.Properties", "GetAll") { (writer) throws(BusError) in
            try writer.append(Contract.Interface.manager)
        } read: { (reader) throws(BusError) in
            try Status(from: &reader)
        }
    }

    /// Wipes the foreground keys from the broker's memory; `notAvailable` without a passcode.
    public func lock() async throws(ChatelaineError) {
        try await call(Contract.Interface.manager, "Lock") { _ throws(BusError) in }
    }

    /// Unlocks; a wrong passcode is `authFailed`, after a delay that grows.
    public func unlock(_ passcode: SharedSecret) async throws(ChatelaineError) {
        try await callWithSecrets("Unlock", [passcode])
    }

    /// Answers a question that the broker has a prompter ask, by its number. A wrong passcode is `authFailed`, after a delay
    /// that grows, and so is a question that is not open.
    public func confirm(_ cookie: UInt64, _ passcode: SharedSecret) async throws(ChatelaineError) {
        let session = try await session()
        try await call(Contract.Interface.manager, "Confirm", .endless, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(cookie)
            try writer.append(OutgoingSecret(passcode, for: session))
        } read: { _ throws(BusError) in
        }
    }

    /// Sets the passcode or changes it. Without an old one the keychain must have none.
    public func setPasscode(
        old: SharedSecret?, new: SharedSecret
    ) async throws(ChatelaineError) {
        let none = SharedSecret(Secret(copying: [UInt8]().span))
        try await callWithSecrets("SetPasscode", [old ?? none, new])
    }

    /// Removes the passcode, and destroys every when-passcode-set item for good.
    public func removePasscode(_ passcode: SharedSecret) async throws(ChatelaineError) {
        try await callWithSecrets("RemovePasscode", [passcode])
    }

    /// As ``logout(group:service:reason:)``, but raises the epoch and signals in any case.
    public func forceLogout(
        group: String, service: String, reason: String
    ) async throws(ChatelaineError) -> (deleted: UInt32, subscribers: UInt32, epoch: UInt64) {
        try await call(Contract.Interface.manager, "ForceLogout") { (writer) throws(BusError) in
            try writer.append(group)
            try writer.append(service)
            try writer.append(reason)
        } read: { (reader) throws(BusError) in
            (try reader.read(), try reader.read(), try reader.read())
        }
    }

    /// Moves every item of a group to another, and says how many.
    public func moveItems(from: String, to: String) async throws(ChatelaineError) -> UInt32 {
        try await call(Contract.Interface.manager, "MoveItems") { (writer) throws(BusError) in
            try writer.append(from)
            try writer.append(to)
        } read: { (reader) throws(BusError) in
            try reader.read()
        }
    }

    /// Has an item compared with the one in its place, and puts it there as `mode` says; the contract's `ImportItem`. An
    /// empty group is this program's own.
    public func importItem(
        _ attributes: Attributes, _ secret: SharedSecret, group: String, _ mode: ImportMode
    ) async throws(ChatelaineError) -> ImportAnswer {
        let session = try await session()
        return try await call(Contract.Interface.manager, "ImportItem", sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(group)
            try writer.append(mode.rawValue)
            try writer.append(attributes)
            try writer.append(OutgoingSecret(secret, for: session))
        } read: { (reader) throws(BusError) in
            try ImportAnswer(from: &reader)
        }
    }

    /// The same for an item of another keyring of `org.freedesktop.secrets`; the contract's `ImportSecret`.
    public func importSecret(
        _ item: ForeignItem, _ secret: SharedSecret, group: String, _ mode: ImportMode
    ) async throws(ChatelaineError) -> ImportAnswer {
        let session = try await session()
        return try await call(Contract.Interface.manager, "ImportSecret", sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(group)
            try writer.append(mode.rawValue)
            try writer.append(item.collection)
            try writer.append(item.label)
            try writer.open("a", "{ss}")
            for attribute in item.attributes {
                try writer.open("e", "ss")
                try writer.append(attribute.name)
                try writer.append(attribute.value)
                try writer.close()
            }
            try writer.close()
            try writer.append(item.contentType)
            try writer.append(OutgoingSecret(secret, for: session))
        } read: { (reader) throws(BusError) in
            try ImportAnswer(from: &reader)
        }
    }

    /// Makes the broker read its policy again, and gives the warnings; `policyInvalid` leaves the old one.
    public func reloadPolicy() async throws(ChatelaineError) -> [String] {
        try await call(Contract.Interface.manager, "ReloadPolicy") { (reader) throws(BusError) in
            try reader.read()
        }
    }

    /// Who is connected.
    public func clients() async throws(ChatelaineError) -> [Client] {
        try await call(Contract.Interface.manager, "ListClients") { (reader) throws(BusError) in
            var clients: [Client] = []
            _ = try reader.enter("a", "a{sv}")
            while try !reader.isAtEnd() { clients.append(try Client(from: &reader)) }
            try reader.exit()
            return clients
        }
    }

    /// What the broker decides for a connection's name, or for `pid:` and a number.
    public func explain(_ target: String, group: String) async throws(ChatelaineError) -> Explanation {
        try await call(Contract.Interface.manager, "Explain") { (writer) throws(BusError) in
            try writer.append(target)
            try writer.append(group)
        } read: { (reader) throws(BusError) in
            try Explanation(from: &reader)
        }
    }

    /// What is stored where.
    public func groups() async throws(ChatelaineError) -> [Group] {
        try await call(Contract.Interface.manager, "ListGroups") { (reader) throws(BusError) in
            var groups: [Group] = []
            _ = try reader.enter("a", "(suu)")
            while try reader.enter("r", "suu") {
                groups.append(
                    Group(
                        name: try reader.read(), background: try reader.read(), foreground: try reader.read())
                )
                try reader.exit()
            }
            try reader.exit()
            return groups
        }
    }

    /// Reads every row of the store.
    public func check() async throws(ChatelaineError) -> CheckReport {
        try await call(Contract.Interface.manager, "Check", .endless) { (reader) throws(BusError) in
            try CheckReport(from: &reader)
        }
    }

    private func callWithSecrets(
        _ member: String, _ secrets: [SharedSecret]
    ) async throws(ChatelaineError) {
        let session = try await session()
        try await call(Contract.Interface.manager, member, .endless, sensitive: true) {
            (writer) throws(BusError) in
            for secret in secrets { try writer.append(OutgoingSecret(secret, for: session)) }
        } read: { _ throws(BusError) in
        }
    }
}
