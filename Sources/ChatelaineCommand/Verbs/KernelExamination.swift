/// What the kernel's settings make of the evidence that the policy relies on. It reads and judges; where from is
/// handed in, so that a test can be another machine.
struct KernelExamination {
    /// The text of a file of the kernel's; nil where it cannot be read.
    let text: (String) -> String?
    /// Whether a link of `/proc` can be followed.
    let canFollow: (String) -> Bool
    /// Whether a socket hands out the process at its other end.
    let pinsSocketPeers: Bool
    /// Whether the bus tells the label of a connection; nil where there is no bus.
    let busGivesLabels: Bool?

    var findings: [Finding] { [socketPins, labels, tracing, processes, firstProcess, userNamespaces] }

    private var socketPins: Finding {
        let subject = "socket descriptors"
        if pinsSocketPeers {
            return Finding(
                subject, .good, "the kernel pins each caller of the direct endpoint (SO_PEERPIDFD)")
        }
        return Finding(
            subject, .weak, "the kernel gives none; callers of the direct endpoint are found by number",
            advice: "Linux 6.5 gives them.")
    }

    private var labels: Finding {
        let subject = "security labels"
        let modules = text("/sys/kernel/security/lsm")?.split(separator: ",").map { String($0) } ?? []
        let hasSELinux = modules.contains("selinux") || text("/sys/fs/selinux/enforce") != nil
        let hasAppArmor =
            modules.contains("apparmor") || text("/sys/module/apparmor/parameters/enabled") == "Y"
        let module = hasSELinux ? "SELinux" : hasAppArmor ? "AppArmor" : nil
        guard let module else {
            return Finding(
                subject, .absent, "neither SELinux nor AppArmor is on; SecurityLabel= matches nobody")
        }
        switch busGivesLabels {
        case nil: return Finding(subject, .absent, "\(module) is on; there is no bus that tells labels")
        case true?: return Finding(subject, .good, "\(module) is on, and the bus tells each caller's label")
        case false? where module == "AppArmor":
            return Finding(
                subject, .good, "AppArmor is on; the bus tells no labels, so they are read from /proc")
        case false?:
            return Finding(
                subject, .weak, "SELinux is on, but the bus tells no labels: SecurityLabel= matches nobody",
                advice: "Use a bus that is built with SELinux.")
        }
    }

    private var tracing: Finding {
        let subject = "tracing"
        switch text("/proc/sys/kernel/yama/ptrace_scope") {
        case "1": return Finding(subject, .good, "a program is traced by those that started it (Yama 1)")
        case "2", "3": return Finding(subject, .good, "no program of a user's traces another (Yama)")
        case "0":
            return Finding(
                subject, .weak,
                "any program may trace another of its user, and do what that one may (Yama 0)",
                advice: "Put kernel.yama.ptrace_scope=1 into a file of /etc/sysctl.d.")
        default:
            return Finding(
                subject, .weak, "any program may trace another of its user, and do what that one may",
                advice: "Use a kernel that has Yama, or give what matters to a set-group-id program.")
        }
    }

    private var processes: Finding {
        let subject = "/proc"
        guard let mounts = text("/proc/self/mountinfo") else {
            return Finding(
                subject, .wrong, "cannot be read; no caller has any evidence but its user",
                advice: "Mount /proc.")
        }
        let options = mounts.split(separator: "\n").compactMap(Self.procOptions).last ?? []
        let hiding = options.first { $0.hasPrefix("hidepid=") }.map { String($0.dropFirst(8)) }
        guard let hiding, !["0", "off"].contains(hiding) else {
            return Finding(subject, .good, "shows every process; callers can be read about")
        }
        return Finding(
            subject, .weak, "hidepid=\(hiding): a broker that lacks CAP_SYS_PTRACE sees its own user's alone",
            advice: "The units that come with the broker give it that; keep it, or mount without hidepid.")
    }

    // The options of the file system of a line of mountinfo, where it is the one at /proc.
    private static func procOptions(_ line: Substring) -> [Substring]? {
        let words = line.split(separator: " ")
        guard words.count > 4, words[4] == "/proc", let dash = words.firstIndex(of: "-"),
            words.count > dash + 3, words[dash + 1] == "proc"
        else { return nil }
        return words[dash + 3].split(separator: ",")
    }

    private var firstProcess: Finding {
        let subject = "first process"
        if canFollow("/proc/1/ns/mnt") {
            return Finding(subject, .good, "its namespaces can be read from here")
        }
        return Finding(
            subject, .absent,
            "its namespaces cannot be read from here; callers are held against the broker's own")
    }

    private var userNamespaces: Finding {
        let subject = "user namespaces"
        let isClosed =
            text("/proc/sys/user/max_user_namespaces") == "0"
            || text("/proc/sys/kernel/unprivileged_userns_clone") == "0"
        if isClosed { return Finding(subject, .good, "closed to ordinary users") }
        let isRestricted = text("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1"
        return Finding(
            subject, .good,
            (isRestricted ? "for the programs that AppArmor allows them" : "open to ordinary users")
                + "; a caller in one of its own has no evidence there")
    }
}
