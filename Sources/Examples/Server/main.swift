// A toy authorization server on a free port of this machine, which it prints. `demo-server [--access-ms N]
// [--grace-ms N] [--delay-ms N]`.

import DemoKit
import SDBus
import Sodium

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
    DemoProgram.end("usage: demo-server [--access-ms N] [--grace-ms N] [--delay-ms N]")
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
