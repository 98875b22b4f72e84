import SDBus
import TestKit

/// What plays polkit on a private bus: it notes what it is asked, and answers when the test says so.
@BrokerActor final class FakePolkit {
    static let name = "org.freedesktop.PolicyKit1"
    static let path = "/org/freedesktop/PolicyKit1/Authority"

    /// One question, as it came.
    struct Question: Sendable, Equatable {
        let subject: Subject
        let action: String
        let flags: UInt32
        let cancellation: String
    }

    /// A subject, `(sa{sv})`, with its values as text.
    struct Subject: BusDecodable, Sendable, Equatable {
        static var signature: String { "(sa{sv})" }

        let kind: String
        let details: [String: String]

        init(kind: String, details: [String: String]) {
            self.kind = kind
            self.details = details
        }

        init(from reader: inout MessageReader) throws(BusError) {
            _ = try reader.enter("r", "sa{sv}")
            kind = try reader.read()
            var details: [String: String] = [:]
            try reader.dictionary { (key, value) throws(BusError) in
                switch try value.peekType().type {
                case UInt8(ascii: "s"): details[key] = try value.read(String.self)
                case UInt8(ascii: "u"): details[key] = "u \(try value.read(UInt32.self))"
                case UInt8(ascii: "t"): details[key] = "t \(try value.read(UInt64.self))"
                case UInt8(ascii: "i"): details[key] = "i \(try value.read(Int32.self))"
                default: try value.skip()
                }
            }
            try reader.exit()
            self.details = details
        }
    }

    /// polkit's answer, `(bba{ss})`.
    struct Result: BusEncodable, Sendable {
        static var signature: String { "(bba{ss})" }

        let isAuthorized: Bool
        let isChallenge: Bool

        func encode(to writer: inout MessageWriter) throws(BusError) {
            try writer.open("r", "bba{ss}")
            try writer.append(isAuthorized)
            try writer.append(isChallenge)
            try writer.append(["polkit.temporary_authorization_id": "t1"])
            try writer.close()
        }
    }

    let questions = Mailbox<Question>()
    let withdrawals = Mailbox<String>()
    private var waiting: [String: CheckedContinuation<Swift.Result<Result, BusError>, Never>] = [:]

    /// A new one each time: one that was kept here would keep this alive, whose closures it holds.
    var interface: Interface {
        Interface(Self.name + ".Authority") {
            Method(
                "CheckAuthorization", in: ["subject", "action", "details", "flags", "cancellation"],
                out: ["result"]
            ) {
                [self]
                (
                    _, subject: Subject, action: String, details: [String: String], flags: UInt32,
                    cancellation: String
                ) -> Answer<Result> in
                let question = Question(
                    subject: subject, action: action, flags: flags, cancellation: cancellation)
                return .later { [self] () async throws(BusError) in
                    let answer = await withCheckedContinuation { continuation in
                        waiting[cancellation] = continuation
                        questions.post(question)
                    }
                    return try answer.get()
                }
            }
            Method("CancelCheckAuthorization", in: ["cancellation"]) { [self] (_, cancellation: String) in
                withdrawals.post(cancellation)
                waiting.removeValue(forKey: cancellation)?.resume(returning: .failure(Self.cancelled))
            }
        }
    }

    /// An authority that answers at once, and with what none should.
    static var garbled: Interface {
        Interface(name + ".Authority") {
            Method(
                "CheckAuthorization", in: ["subject", "action", "details", "flags", "cancellation"],
                out: ["result"]
            ) { (_, _: Subject, _: String, _: [String: String], _: UInt32, _: String) in true }
        }
    }

    func answer(_ question: Question, isAuthorized: Bool, isChallenge: Bool = false) {
        settle(question, .success(Result(isAuthorized: isAuthorized, isChallenge: isChallenge)))
    }

    func fail(_ question: Question, _ error: String) {
        settle(question, .failure(BusError(name: error, message: "No.")))
    }

    /// Lets go of the questions that nobody answers.
    func dismiss() {
        for question in waiting.values { question.resume(returning: .failure(Self.cancelled)) }
        waiting = [:]
    }

    private static let cancelled = BusError(
        name: "org.freedesktop.PolicyKit1.Error.Cancelled", message: "Cancelled.")

    private func settle(_ question: Question, _ answer: Swift.Result<Result, BusError>) {
        waiting.removeValue(forKey: question.cancellation)?.resume(returning: answer)
    }
}
