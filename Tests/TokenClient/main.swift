// BUS ENDPOINT: for each line on standard input it asks its gate for a token, and writes what came of it.
// browse ADDRESS: opens the address in the user's browser, and writes what came of it.
// sign-in ADDRESS: signs in there, before anything else, and writes what came of it.

import Chatelaine
import ChatelaineHTTP
import Glibc

func word(_ gate: RefreshGate) async -> String {
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

func serve(_ bus: String, _ address: HTTPAddress) async {
    let vault = CredentialVault(
        service: "https://mail.example", group: "org.example.mail", at: .address(bus))
    let endpoint = TokenEndpoint(address, clientID: "app")
    let gate = RefreshGate(vault, account: "alice") { try await endpoint.refresh($0) }
    while readLine() != nil {
        print(await word(gate))
        fflush(nil)
    }
}

func browse(_ address: String) async {
    do {
        try await Browser.open(address)
        print("opened")
    } catch {
        print(error)
    }
}

func signIn(_ address: HTTPAddress) async {
    let signIn = SignIn(authorization: address, endpoint: TokenEndpoint(address, clientID: "app"))
    do {
        _ = try await signIn.tokens()
        print("signed in")
    } catch {
        print(error)
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(2) }
if arguments[1] == "browse" {
    await browse(arguments[2])
} else if let address = HTTPAddress(arguments[2]) {
    if arguments[1] == "sign-in" {
        await signIn(address)
        exit(0)
    }
    await serve(arguments[1], address)
}
