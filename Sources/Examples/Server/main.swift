// A toy authorization server on a free port of this machine, which it prints. `demo-server expire` takes all access tokens
// of the one at the port DEMO_SERVER out of force, `demo-server statistics` says what that one has seen.

import DemoKit
import Glibc
import SDBus
import Sodium

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments == ["expire"] || arguments == ["statistics"] {
    guard let service = MailService() else { DemoProgram.end("demo-server: DEMO_SERVER names no port") }
    let method = arguments == ["expire"] ? "POST" : "GET"
    let answer = await service.ask(method, "/" + arguments[0])
    DemoProgram.say(answer?.text ?? "the server is away")
    exit(answer == nil ? 1 : 0)
}
guard let options = Options(arguments) else {
    DemoProgram.end(
        "usage: demo-server [--access-ms N] [--grace-ms N] [--delay-ms N] | expire | statistics")
}
guard let listener = LoopbackListener() else { DemoProgram.end("demo-server: no port is free") }
let hexadecimal: [Character] = Array("0123456789abcdef")
let server = TokenServer(options) {
    String(Random.bytes(12).flatMap { [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 15)]] })
}
DemoProgram.say("\(listener.port)")
while let socket = listener.accept() {
    // A thread for each connection: a refresh that takes its time holds up nobody else.
    WorkThread(name: "connection").post {
        if let request = HTTPMessage.receive(from: socket) { socket.send(server.answer(request).bytes) }
    }
}
