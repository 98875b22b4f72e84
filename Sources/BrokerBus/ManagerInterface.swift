internal import BrokerModel
internal import SDBus

extension Dispatch {
    /// `org.chatelaine.Broker1.Manager` (INTERFACE), but for backups.
    func managerInterface() -> Interface {
        Interface(Contract.Interface.manager) {
            properties()
            passcodeCalls()
            recovery()
            administration()
            imports()
            inspection()
        }
    }

    // One that is each asker's own has no value that could be told to all.
    @InterfaceBuilder private func properties() -> [InterfaceMember] {
        let change: PropertyChange = service.servesAllUsers ? .emitsInvalidation : .emitsChange
        Property("State", change) { (call) throws(BusError) in try status(call).state.rawValue }
        Property("ProtectedDataAvailable", change) { (call) throws(BusError) in
            try status(call).state == .unlocked
        }
        Property("PasscodeSet", change) { (call) throws(BusError) in try status(call).isPasscodeSet }
        Property("RecoveryKeySet", change) { (call) throws(BusError) in
            try status(call).isRecoveryKeySet
        }
        Property("Version", .const) { Contract.version }
        Property("Conditions", change) { (call) throws(BusError) in
            try status(call).conditions.map(\.rawValue)
        }
    }

    private func status(_ call: borrowing PropertyCall) throws(BusError) -> ManagerStatus {
        let context = context(call)
        return try onWire { () throws(Refusal) in try service.status(context) }
    }

    @InterfaceBuilder private func passcodeCalls() -> [InterfaceMember] {
        Method("Lock") { (call: borrowing Call) throws(BusError) -> Answer<Void> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.lock(context)
            } _: {
                $0
            }
        }
        Method("Unlock", in: ["passcode"]) {
            (call: borrowing Call, passcode: SealedSecret) throws(BusError) -> Answer<Void> in
            let context = try context(call)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.unlock(context, passcode)
            } _: {
                $0
            }
        }.sensitive
        Method("Confirm", in: ["cookie", "passcode"]) {
            (call: borrowing Call, cookie: UInt64, passcode: SealedSecret) throws(BusError)
                -> Answer<Void> in
            let context = try context(call)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.confirm(context, cookie: cookie, passcode)
            } _: {
                $0
            }
        }.sensitive
        Method("SetPasscode", in: ["old", "new"]) {
            (call: borrowing Call, old: SealedSecret, new: SealedSecret) throws(BusError) -> Answer<Void> in
            let context = try context(call)
            let old = try open(old, context, limit: Limits.passcodeBytesMax)
            let new = try open(new, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.setPasscode(context, old: old, new: new)
            } _: {
                $0
            }
        }.sensitive
        Method("FollowPasscode", in: ["passcode"]) {
            (call: borrowing Call, passcode: SealedSecret) throws(BusError) -> Answer<Void> in
            let context = try context(call)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.followPasscode(context, passcode)
            } _: {
                $0
            }
        }.sensitive
        Method("RemovePasscode", in: ["passcode"]) {
            (call: borrowing Call, passcode: SealedSecret) throws(BusError) -> Answer<Void> in
            let context = try context(call)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.removePasscode(context, passcode)
            } _: {
                $0
            }
        }.sensitive
    }

    @InterfaceBuilder private func administration() -> [InterfaceMember] {
        Method(
            "ForceLogout", in: ["group", "service", "reason"], out: ["deleted", "subscribers", "epoch"]
        ) {
            (call: borrowing Call, group: String, name: String, reason: String) throws(BusError)
                -> Answer<(UInt32, UInt32, UInt64)> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.forceLogout(context, group: group, service: name, reason: reason)
            } _: {
                ($0.deleted, $0.subscribers, $0.epoch)
            }
        }
        Method("MoveItems", in: ["from", "to"], out: ["moved"]) {
            (call: borrowing Call, from: String, to: String) throws(BusError) -> Answer<UInt32> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.moveItems(context, from: from, to: to)
            } _: {
                $0
            }
        }
        Method("ReloadPolicy", out: ["warnings"]) {
            (call: borrowing Call) throws(BusError) -> Answer<[String]> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.reloadPolicy(context)
            } _: {
                $0
            }
        }
    }

    @InterfaceBuilder private func inspection() -> [InterfaceMember] {
        Method("ListClients", out: ["clients"]) {
            (call: borrowing Call) throws(BusError) -> Answer<[ClientReply]> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.listClients(context)
            } _: {
                $0.map { ClientReply(record: $0) }
            }
        }
        Method("Explain", in: ["target", "group"], out: ["explanation"]) {
            (call: borrowing Call, target: String, group: String) throws(BusError)
                -> Answer<ExplainReply> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.explain(context, target: target, group: group)
            } _: {
                ExplainReply(record: $0)
            }
        }
        Method("ListGroups", out: ["groups"]) {
            (call: borrowing Call) throws(BusError) -> Answer<[GroupReply]> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.listGroups(context)
            } _: {
                $0.map { GroupReply(record: $0) }
            }
        }
        Method("Check", out: ["report"]) {
            (call: borrowing Call) throws(BusError) -> Answer<CheckReply> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.check(context)
            } _: {
                CheckReply(report: $0)
            }
        }
    }
}
