// A provider of the tests' own: the broker's rooms with the objects of a fixture under the fixture's paths.
//
//     FixtureService FIXTURE.json
//
// Serves on $DBUS_SESSION_BUS_ADDRESS, prints its bus name on a line, and ends at SIGTERM or with the bus. There is no
// passcode, so that every prompt is answered with yes as soon as it is performed.

internal import Foundation
internal import SDBus

@main enum FixtureService {
    static func main() {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: FixtureService FIXTURE.json\n".utf8))
            exit(64)
        }
        let loop = BrokerActor.shared.loop
        BrokerActor.start {
            do {
                try await Provider.start(Fixture(path: CommandLine.arguments[1]))
            } catch {
                FileHandle.standardError.write(Data("FixtureService: \(error)\n".utf8))
                loop.stop(code: 1)
            }
        }
        let status = loop.run()
        exit(status)
    }
}
