// For each line on standard input it asks its gate for a token, and writes what came of it. Arguments: the bus, and the
// token endpoint.

import Chatelaine
import ChatelaineHTTP
import Glibc
import SDBus

@BrokerActor func word(_ gate: RefreshGate) async -> String {
    do {
        let token = try await gate.validAccessToken()
        return "token of revision \(token.revision)"
    } catch RefreshError.busy {
        return "busy"
    } catch RefreshError.signInNeeded {
        return "sign in"
    } catch {
        return "failed: \(error)"
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let address = HTTPAddress(arguments[2]) else { exit(2) }

BrokerActor.shared.loop.startThread()
var item = Attributes()
item["Class"] = .text("generic-password")
item["Service"] = .text("https://mail.example")
item["Account"] = .text("alice")
let endpoint = TokenEndpoint(address, clientID: "app")
let gate = await RefreshGate(item, at: .address(arguments[1])) { try await endpoint.refresh($0) }
while readLine() != nil {
    print(await word(gate))
    fflush(nil)
}
