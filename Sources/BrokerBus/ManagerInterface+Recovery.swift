internal import BrokerModel
internal import SDBus
internal import Sodium

extension Dispatch {
    /// The recovery key's calls.
    @InterfaceBuilder func recovery() -> [InterfaceMember] {
        Method("CreateRecoveryKey", in: ["passcode", "session"], out: ["key"]) {
            (call: borrowing Call, passcode: SealedSecret, path: ObjectPath) throws(BusError)
                -> Answer<OutgoingSecret> in
            let context = try context(call)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            let session = try session(path, context)
            return try answer(context) { () throws(Refusal) in
                try service.createRecoveryKey(context, passcode)
            } _: {
                OutgoingSecret($0, for: session)
            }
        }.sensitive
        Method("RemoveRecoveryKey", in: ["passcode"]) {
            (call: borrowing Call, passcode: SealedSecret) throws(BusError) -> Answer<Void> in
            let context = try context(call)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.removeRecoveryKey(context, passcode)
            } _: {
                $0
            }
        }.sensitive
        Method("PreviewRecovery", out: ["kept", "lost"]) {
            (call: borrowing Call) throws(BusError) -> Answer<(UInt32, UInt32)> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.previewRecovery(context)
            } _: {
                ($0.kept, $0.lost)
            }
        }
        Method("Recover", in: ["key", "passcode", "accepted"], out: ["kept", "lost"]) {
            (call: borrowing Call, key: SealedSecret, passcode: SealedSecret, accepted: UInt32)
                throws(BusError) -> Answer<(UInt32, UInt32)> in
            let context = try context(call)
            let key = try open(key, context, limit: Limits.passcodeBytesMax)
            let passcode = try open(passcode, context, limit: Limits.passcodeBytesMax)
            return try answer(context) { () throws(Refusal) in
                try service.recover(context, key, passcode: passcode, accepting: accepted)
            } _: {
                ($0.kept, $0.lost)
            }
        }.sensitive
    }
}
