import Glibc
import SDBus
import TestKit
import Testing

@Suite struct SystemdTests {
    @Test func theServiceManagerIsTold() async throws {
        let folder = try TemporaryFolder()
        let path = folder.entry("notify")
        let socket = try RawSocket.datagrams(at: path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            unsafe setenv("NOTIFY_SOCKET", path, 1)
            SystemdNotify.ready()
            SystemdNotify.status("one line\nREADY=0")
            SystemdNotify.reloading()
            SystemdNotify.stopping()
        }
        var texts: [String] = []
        for _ in 0..<4 {
            let bytes = try await within("a notification") { await socket.read() }
            texts.append(String(decoding: bytes, as: UTF8.self))
        }
        #expect(texts[0] == "READY=1")
        #expect(texts[1] == "STATUS=one line")
        #expect(texts[2].hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(texts[3] == "STOPPING=1")
    }

    @Test func withoutAServiceManagerNothingHappens() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("NOTIFY_SOCKET")
            unsafe unsetenv("LISTEN_FDS")
            SystemdNotify.ready()
            guard SystemdNotify.listenFDs().isEmpty else { exit(1) }
        }
    }

    @Test func socketsThatWereHandedOverAreListedWithTheirNames() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("LISTEN_PID", String(getpid()), 1)
            unsafe setenv("LISTEN_FDS", "2", 1)
            unsafe setenv("LISTEN_FDNAMES", "bus:other", 1)
            for number: Int32 in 3...4 where fcntl(number, F_GETFD) < 0 { dup2(0, number) }
            let sockets = SystemdNotify.listenFDs()
            guard sockets.map(\.name) == ["bus", "other"], sockets.map(\.descriptor) == [3, 4] else {
                exit(1)
            }
        }
    }

    @Test func theJournalIsAskedForBeforeItIsUsed() {
        let sent = Journal.send(fields: [
            ("MESSAGE", "a test of the journal"), ("PRIORITY", "7"), ("bad", "x"),
        ])
        #expect(sent == Journal.isAvailable)
        #expect(!Journal.send(fields: []))
        #expect(!Journal.send(fields: [("bad name", "x")]))
    }
}
