internal import Chatelaine
internal import BrokerHost
internal import Console
internal import SDBus

/// `doctor`: whether this machine gives what the policy relies on, and what to do about it where not.
@BrokerActor enum DoctorVerb {
    static func run(_ context: Context) async throws(Failure) {
        let isSystem = context.invocation.endpoint == .system
        let broker = await BrokerExamination.look(context)
        let policy = PolicyExamination.findings(PolicySource(ofBroker: broker.arguments), isSystem: isSystem)
        let kernel = KernelExamination(
            text: HostKernel.text, canFollow: HostKernel.canFollow,
            pinsSocketPeers: HostKernel.pinsSocketPeers, busGivesLabels: broker.busGivesLabels)
        let machine = await MachineExamination.findings(
            isSystem: isSystem, brokersArguments: broker.arguments)
        let findings = broker.findings + policy + machine + kernel.findings
        try context.print(.array(findings.map(\.json))) { text(findings, context.style) }
        let wrong = findings.count { $0.result == .wrong }
        if wrong > 0 {
            throw Failure(.failed, wrong == 1 ? "one thing is wrong" : "\(wrong) things are wrong")
        }
    }

    static func text(_ findings: [Finding], _ style: Style) -> String {
        var rows: [[Table.Cell]] = []
        for finding in findings {
            rows.append([
                Table.Cell(finding.result.rawValue, finding.result.tone), Table.Cell(finding.subject, .bold),
                Table.Cell(finding.detail),
            ])
            if let advice = finding.advice {
                rows.append([Table.Cell(""), Table.Cell(""), Table.Cell("→ " + advice)])
            }
        }
        return Table.lines(rows, style)
    }
}

/// What the doctor found of one thing.
struct Finding {
    /// What was looked at.
    let subject: String
    let result: Result
    /// What was seen.
    let detail: String
    /// What to do; nil where nothing is to be done.
    let advice: String?

    init(_ subject: String, _ result: Result, _ detail: String, advice: String? = nil) {
        self.subject = subject
        self.result = result
        self.detail = detail
        self.advice = advice
    }

    /// How it is.
    enum Result: String {
        case good = "ok"
        /// Not there, and not needed either.
        case absent
        /// Everything works, and something is worth less than it could be.
        case weak
        /// To be mended.
        case wrong

        var tone: Style.Tone? {
            switch self {
            case .good: .good
            case .absent: nil
            case .weak: .middling
            case .wrong: .bad
            }
        }
    }

    var json: JSON {
        .object([
            JSON.Member("Subject", .string(subject)), JSON.Member("Result", .string(result.rawValue)),
            JSON.Member("Detail", .string(detail)), JSON.Member("Advice", .string(advice ?? "")),
        ])
    }
}
