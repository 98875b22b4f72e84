internal import CSystemd

/// What the service manager is told, and what it hands over. Nothing happens where there is none.
public enum SystemdNotify {
    /// The service is up.
    public static func ready() { send("READY=1") }

    /// The configuration is being read again; `ready` ends it.
    public static func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(EventClock.monotonic.now)")
    }

    /// The service is going down.
    public static func stopping() { send("STOPPING=1") }

    /// One line for `systemctl status`; what follows a newline is left out.
    public static func status(_ text: String) {
        send("STATUS=\(text.prefix { !$0.isNewline })")
    }

    /// The sockets that the service manager opened for us, close-on-exec, each with its name. Ours from now on.
    public static func listenFDs() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return [] }
        defer { unsafe freeStrings(names) }
        return (0..<Int(count)).map { index in
            let name = unsafe string(names[index]) ?? ""
            return (name, SD_LISTEN_FDS_START + Int32(index))
        }
    }

    private static func send(_ state: String) {
        _ = unsafe sd_notify(0, state)
    }
}
