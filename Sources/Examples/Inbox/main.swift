// The command line tool: looks at the mail, and renews the shared token where that is due. `demo-inbox --die` is killed
// when it has the next tokens and has not stored them.

import DemoKit

DemoProgram.run { (_, arguments) in
    guard let service = MailService() else { DemoProgram.end("demo-inbox: DEMO_SERVER names no port") }
    guard arguments.isEmpty || arguments == ["--die"] else { DemoProgram.end("usage: demo-inbox [--die]") }
    DemoProgram.say(try await service.inbox(service.gate(diesWithAnswer: !arguments.isEmpty)))
}
