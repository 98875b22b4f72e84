internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus

/// `secret-service`: takes `org.freedesktop.secrets` over from another keyring, gives it back, says who has it.
///
/// What it changes is files in the user's own folders, so that it lasts, and then the running bus and broker.
@BrokerActor enum SecretServiceVerb {
    static func on(_ context: Context) async throws(Failure) {
        let broker = try connect(context)
        let template = Installed.activation
        guard HostFile.exists(template) else {
            throw Failure(.failed, "\(template) is missing; is chatelaine installed?")
        }
        let changes = try onFiles { () throws(HostError) in
            let link = try Self.linkPath()
            if HostName.target(of: link) != template {
                guard !HostName.isTaken(link) else {
                    throw HostError("is another keyring's; move it away", at: link)
                }
                try HostName.link(link, to: template)
            }
            let prevented = try OtherKeyrings.prevent(try Self.config(), broker: Installed.broker)
            return [link] + prevented + [try Self.choose("yes")]
        }
        try await carryOut(broker, context, changes.map { "made \($0)" })
    }

    static func off(_ context: Context) async throws(Failure) {
        let broker = try connect(context)
        let changes = try onFiles { () throws(HostError) in
            let (link, chosen) = (try Self.linkPath(), try Self.choose("no"))
            var gone = try OtherKeyrings.allow(try Self.config())
            if HostName.target(of: link)?.hasSuffix(Installed.place) == true {
                try HostName.remove(link)
                gone.append(link)
            }
            return gone.map { "removed \($0)" } + ["made \(chosen)"]
        }
        try await carryOut(broker, context, changes)
    }

    static func status(_ context: Context) async throws(Failure) {
        try await show(try connect(context), context, [])
    }

    private static func connect(_ context: Context) throws(Failure) -> Broker {
        guard context.invocation.endpoint != .system else {
            throw .usage(
                "\(SecretServiceExamination.name) is on the session bus alone", context.invocation.verb)
        }
        do throws(ChatelaineError) {
            return try Broker.connectToBus(context.invocation.endpoint)
        } catch {
            throw Failure(.failed, "\(error); \(context.invocation.endpoint.name) cannot be reached")
        }
    }

    // First those who start others, so that nobody else is started for the name when it becomes free.
    private static func carryOut(
        _ broker: Broker, _ context: Context, _ changes: [String]
    ) async throws(Failure) {
        _ = try? await broker.connection.callBus("ReloadConfig")
        _ = try? await broker.connection.call(
            "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
            interface: "org.freedesktop.systemd1.Manager", member: "Reload")
        do throws(ChatelaineError) {
            _ = try await broker.reloadPolicy()
        } catch {
            let failure = Failure(error)
            let rest = "; the files are in place, and the broker follows them when it is started anew"
            throw Failure(failure.code, failure.text + rest)
        }
        try await show(broker, context, changes)
    }

    private static func show(
        _ broker: Broker, _ context: Context, _ changes: [String]
    ) async throws(Failure) {
        let findings = await SecretServiceExamination.findings(broker.connection)
        let json = JSON.object([
            JSON.Member("Changes", .strings(changes)), JSON.Member("Findings", .array(findings.map(\.json))),
        ])
        try context.print(json) {
            changes.map { $0.printable + "\n" }.joined() + DoctorVerb.text(findings, context.style)
        }
    }

    /// The user's own configuration, in which nothing but this is said.
    private static func choose(_ value: String) throws(HostError) -> String {
        let path = try config() + "/chatelaine/chatelained.conf"
        let remark = "# Of chatelaine secret-service; see chatelained(8).\n"
        try HostName.put(path, remark + "[Broker]\nSecretService=\(value)\n")
        return path
    }

    private static func linkPath() throws(HostError) -> String {
        guard let data = UserFolders.data else { throw HostError("is not set", at: "HOME") }
        return data + "/dbus-1/services/\(SecretServiceExamination.name).service"
    }

    private static func config() throws(HostError) -> String {
        guard let config = UserFolders.config else { throw HostError("is not set", at: "HOME") }
        return config
    }

    private static func onFiles<Value>(_ body: () throws(HostError) -> Value) throws(Failure) -> Value {
        do throws(HostError) {
            return try body()
        } catch {
            throw Failure(.failed, error.description.printable)
        }
    }
}

/// What was installed beside this program.
enum Installed {
    /// Where the activation file for `org.freedesktop.secrets` lies below the prefix: the bus does not look there.
    static let place = "/share/chatelaine/services/org.freedesktop.secrets.service"

    static var activation: String { prefix + place }
    static var broker: String { prefix + "/bin/chatelained" }

    private static var prefix: String {
        let program = HostName.target(of: "/proc/self/exe") ?? ""
        return program.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
