import SDBus
import TestKit
import Testing

@Suite struct ErrorTests {
    init() { TestLoop.start() }

    @BrokerActor private func refusal<each Argument: BusEncodable>(
        _ fixture: Fixture, _ member: String, _ arguments: repeat each Argument
    ) async -> BusError? {
        do throws(BusError) {
            _ = try await fixture.call(member, repeat each arguments)
            return nil
        } catch {
            return error
        }
    }

    @BrokerActor @Test func anErrorCarriesItsNumber() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(
            await refusal(fixture, "Refuse", UInt64(42))
                == BusError(name: "org.lab.Error.No", message: "No.", extra: 42))
        #expect(
            await refusal(fixture, "Refuse", UInt64(0)) == BusError(name: "org.lab.Error.No", message: "No."))
    }

    @BrokerActor @Test func anInvalidErrorNameGoesOutAsFailedAndHarmsNobody() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(await refusal(fixture, "RefuseBadly") == .failed("No."))
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }

    @BrokerActor @Test func anErrnoHasItsName() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(await refusal(fixture, "RefuseErrno")?.name == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(BusError(errno: 6).name == BusError(errno: -6).name)
    }

    @BrokerActor @Test func aReplyThatCannotBeEncodedIsAnErrorAndHarmsNobody() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(await refusal(fixture, "NUL")?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(await refusal(fixture, "BadPath")?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }

    @BrokerActor @Test func anArgumentThatCannotBeEncodedIsThrownHere() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(await refusal(fixture, "Texts", "a\0", ObjectPath("/"), [String]()) != nil)
        #expect(await refusal(fixture, "Texts", "a", ObjectPath("a"), [String]()) != nil)
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }

    @BrokerActor @Test func aWrongSignatureIsRefusedBeforeTheHandler() async throws {
        let fixture = try await Fixture(Echo().interface)
        let refused = await refusal(fixture, "Flag", "text")
        #expect(refused?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(await refusal(fixture, "Flag")?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(await refusal(fixture, "Flag", true, true)?.name == "org.freedesktop.DBus.Error.InvalidArgs")
    }

    @BrokerActor @Test func whatIsNotThereIsSaidToBeUnknown() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(await refusal(fixture, "Absent")?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        await #expect {
            try await fixture.client.call("org.lab.Absent", path: "/", interface: "org.lab.X", member: "Y")
        } throws: { ($0 as? BusError)?.isServiceUnknown == true }
    }

    @BrokerActor @Test func malformedNamesAreThrownAndTheConnectionStays() async throws {
        let fixture = try await Fixture(Echo().interface)
        await #expect(throws: BusError.self) {
            try await fixture.client.call(Fixture.name, path: "nopath", interface: "x", member: "1")
        }
        #expect(throws: BusError.self) {
            try fixture.service.export([Interface("not an interface") {}], at: "/x")
        }
        #expect(throws: BusError.self) {
            try fixture.service.export([Interface("org.lab.Bad") { Method("no name") { _ in } }], at: "/x")
        }
        #expect(throws: BusError.self) {
            try fixture.service.emit(signal: "no name", interface: "org.lab.X", path: "/x", to: nil)
        }
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }
}
