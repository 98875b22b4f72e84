// A program of another group: it looks for the mail program's token, without naming a group or with
// `demo-stranger GROUP` by naming it.

import Chatelaine
import DemoKit

DemoProgram.run { (broker, arguments) in
    var query = MailAccount.token
    if let group = arguments.first { query = query.with("AccessGroup", .text(group)) }
    let token = try await broker.read(query)
    DemoProgram.say("read somebody else's token: \(token.secret.shown)")
}
