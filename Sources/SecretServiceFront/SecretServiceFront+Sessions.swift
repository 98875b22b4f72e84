internal import BrokerModel
internal import SDBus

extension SecretServiceFront {
    func sessionInterface() -> Interface {
        Interface(SecretServiceName.session) {
            Method("Close") { (call: borrowing Call) throws(BusError) -> Void in
                let context = try self.context(call)
                try self.sessions.close(call.path, owner: context.connection)
            }
        }
    }

    func promptInterface() -> Interface {
        Interface(SecretServiceName.prompt) {
            Method("Prompt", in: ["window_id"]) {
                (call: borrowing Call, window: String) throws(BusError) -> Void in
                let context = try self.context(call)
                try self.prompts.perform(call.path, owner: context.connection, window: window)
            }
            Method("Dismiss") { (call: borrowing Call) throws(BusError) -> Void in
                let context = try self.context(call)
                try self.prompts.dismiss(call.path, owner: context.connection)
            }
            Signal("Completed", ["dismissed", "result"], (Bool.self, Variant.self))
        }
    }
}
