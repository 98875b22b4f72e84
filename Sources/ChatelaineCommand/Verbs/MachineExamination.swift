internal import BrokerHost
internal import SDBus

/// What the doctor sees of the machine. None of it is needed, so nothing here is wrong.
@BrokerActor enum MachineExamination {
    static func findings(isSystem: Bool, brokersArguments: [String]) async -> [Finding] {
        [journal, tpm] + (await services(isSystem, brokersArguments))
    }

    private static var journal: Finding {
        Journal.isAvailable
            ? Finding("journal", .good, "takes the broker's entries")
            : Finding("journal", .absent, "decisions go to standard error of the broker")
    }

    private static var tpm: Finding {
        HostFile.exists("/dev/tpmrm0")
            ? Finding("TPM", .good, "/dev/tpmrm0 can seal the device key (systemd-creds)")
            : Finding("TPM", .absent, "file permissions alone keep the device key")
    }

    private static func services(_ isSystem: Bool, _ brokersArguments: [String]) async -> [Finding] {
        guard let system = try? Connection.openSystem() else {
            return [
                Finding("logind", .absent, "there is no system bus"),
                Finding("fprintd", .absent, "there is no system bus"),
                Finding("polkit", .absent, "there is no system bus"),
            ]
        }
        let names = await BusFacts.names(system)
        return [
            LockExamination.finding(
                hasLogind: names.contains("org.freedesktop.login1"),
                LockExamination.causes(brokersArguments)),
            names.contains("net.reactivated.Fprint")
                ? Finding("fprintd", .good, "can ask for a fingerprint")
                : Finding("fprintd", .absent, "no fingerprint can be asked for"),
            polkit(names.contains("org.freedesktop.PolicyKit1"), isSystem),
        ]
    }

    private static func polkit(_ isThere: Bool, _ isSystem: Bool) -> Finding {
        switch (isThere, isSystem) {
        case (true, true): Finding("polkit", .good, "says who beside root is an administrator")
        case (false, true):
            Finding(
                "polkit", .weak, "root alone is an administrator, and no user's call is asked about",
                advice: "Install polkitd.")
        case (_, false):
            Finding(
                "polkit", isThere ? .good : .absent, "not needed: [Manager] in the policy says who manages")
        }
    }
}
