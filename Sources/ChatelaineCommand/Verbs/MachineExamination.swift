internal import BrokerHost
internal import SDBus

/// What the doctor sees of the machine. None of it is needed, so nothing here is wrong.
@BrokerActor enum MachineExamination {
    static func findings() async -> [Finding] {
        [journal, tpm] + (await services())
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

    private static func services() async -> [Finding] {
        guard let system = try? Connection.openSystem() else {
            return [
                Finding("logind", .absent, "there is no system bus"),
                Finding("fprintd", .absent, "there is no system bus"),
            ]
        }
        let names = await BusFacts.names(system)
        return [
            names.contains("org.freedesktop.login1")
                ? Finding("logind", .good, "tells when the session is locked")
                : Finding(
                    "logind", .absent, "nothing tells when the session is locked; chatelaine lock does"),
            names.contains("net.reactivated.Fprint")
                ? Finding("fprintd", .good, "can ask for a fingerprint")
                : Finding("fprintd", .absent, "no fingerprint can be asked for"),
        ]
    }
}
