import Foundation
import TestKit
import Testing

@testable import BrokerHost
@testable import ChatelaineCommand

/// What is told of a keyring's process, of activation files and of the portal's preferences.
@Suite struct SecretServiceTests {
    @Test func theUnitOfAProcessIsTheUsersManagers() {
        let slice = "0::/user.slice/user-1000.slice"
        let manager = slice + "/user@1000.service"
        #expect(
            HostProcess.unit(manager + "/app.slice/gnome-keyring-daemon.service")
                == "gnome-keyring-daemon.service")
        #expect(HostProcess.unit("1:name=systemd:/x.service\n" + manager + "/a.service") == "a.service")
        for other in [manager, manager + "/app.slice/app-x.scope", slice + "/session-2.scope", "", "0::/"] {
            #expect(HostProcess.unit(other) == nil, "\(other)")
        }
        #expect(HostProcess.unit("0::/system.slice/a.service") == nil)
    }

    @Test func aProcessIsDescribed() throws {
        let own = HostProcess(UInt32(ProcessInfo.processInfo.processIdentifier))
        #expect(own.program.hasPrefix("/") && own.description.hasPrefix("process \(own.id), /"))
        // No process has this number.
        #expect(HostProcess(UInt32.max).description == "process 4294967295, unknown program")
    }

    @Test func anActivationFileSaysWhatIsStarted() throws {
        let folder = try TemporaryFolder()
        func file(_ text: String) throws -> ActivationFile? {
            try folder.write(text, to: "x.service")
            return ActivationFile(folder.entry("x.service"), for: "org.x")
        }
        let head = "# Name=org.y\n[D-BUS Service]\n"
        let ours = try #require(try file(head + "Name=org.x\nExec=/opt/bin/chatelained --user\n"))
        #expect(ours.startsBroker && ours.command == "/opt/bin/chatelained --user" && ours.unit.isEmpty)
        #expect(
            try file(head + "Name = org.x \r\nExec=/x\nSystemdService=chatelained.service")?.startsBroker
                == true)
        #expect(try file(head + "Name=org.x\nExec=/usr/bin/keyring chatelained\n")?.startsBroker == false)
        #expect(try file(head + "Name=org.x\n")?.startsBroker == false)
        for other in ["Name=org.x\nExec=/x\n", "[Other]\nName=org.x\n", head + "Name=org.xy\n", ""] {
            #expect(try file(other) == nil, "\(other)")
        }
        #expect(try file(head + "Name=org.x\nExec=/x \u{1B}[2J\u{202E}y\n")?.command == "/x ?[2J?y")
        #expect(ActivationFile(folder.entry("absent"), for: "org.x") == nil)
    }

    @Test func aPreferenceIsTheFirstOfItsLine() {
        let key = "org.freedesktop.impl.portal.Secret"
        for text in ["[preferred]\ndefault=gtk\n\(key)=chatelaine\n", "\(key)=chatelaine;gnome-keyring;"] {
            #expect(PortalPreference.prefersChatelaine(text), "\(text)")
        }
        for text in [
            "", "default=chatelaine", "\(key)=gnome-keyring;chatelaine", "\(key)", "#\(key)=chatelaine",
        ] {
            #expect(!PortalPreference.prefersChatelaine(text), "\(text)")
        }
    }
}
