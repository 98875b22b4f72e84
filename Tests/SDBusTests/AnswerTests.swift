import SDBus
import TestKit
import Testing

@Suite struct AnswerTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func answersComeInAnyOrder() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        let answers = Mailbox<String>()
        for ticket in ["a", "b", "c"] {
            BrokerActor.start {
                let text = try? await fixture.call("Wait", ticket).read(String.self)
                answers.post(text ?? "error")
            }
            #expect(try await echo.gate.arrivals.next("a call to arrive") == ticket)
        }
        #expect(try await fixture.call("Wait", "").read(String.self) == "now")
        for ticket in ["c", "a", "b"] {
            echo.gate.open(ticket)
            #expect(try await answers.next("an answer") == ticket)
        }
    }

    @BrokerActor @Test func aLateErrorCarriesItsNumber() async throws {
        let fixture = try await Fixture(Echo().interface)
        await #expect(throws: BusError(name: "org.lab.Error.Late", message: "Late.", extra: 7)) {
            try await fixture.call("WaitRefused")
        }
    }

    @BrokerActor @Test func aLatePairIsAnswered() async throws {
        let fixture = try await Fixture(Echo().interface)
        let (text, number) = try await fixture.call("LaterPair").read(String.self, UInt32.self)
        #expect(text == "a" && number == 2)
    }

    @BrokerActor @Test func aClientThatVanishesInMidCallHarmsNobody() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        let lost = Mailbox<String>()
        let watch = try await fixture.service.onNameOwnerChanged { name, _, new in
            if new.isEmpty { lost.post(name) }
        }
        let client = try await ChildProcess.start([
            "busctl", "--address=\(fixture.bus.address)", "call", Fixture.name, Fixture.path, Fixture.name,
            "Wait",
            "s", "gone",
        ])
        #expect(try await echo.gate.arrivals.next("the call to arrive") == "gone")
        client.kill()
        #expect(await client.waitForExit() == .signalled(9))
        _ = try await lost.next("the client's name to be lost")
        echo.gate.open("gone")
        #expect(try await fixture.call("Wait", "").read(String.self) == "now")
        watch.cancel()
    }

    @BrokerActor @Test func aCallThatWantsNoReplyGetsNone() async throws {
        let fixture = try await Fixture(Echo().interface)
        let client = try await ChildProcess.start([
            "busctl", "--address=\(fixture.bus.address)", "--expect-reply=no", "call", Fixture.name,
            Fixture.path,
            Fixture.name, "Refuse", "t", "1",
        ])
        #expect(await client.waitForExit() == .exited(0))
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }

    @BrokerActor @Test func aCallIsGivenUpWhenItsTaskIsCancelled() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        let outcome = Mailbox<BusError?>()
        let task = BrokerActor.start {
            do throws(BusError) {
                try await fixture.call("Wait", "x")
                outcome.post(nil)
            } catch {
                outcome.post(error)
            }
        }
        _ = try await echo.gate.arrivals.next("the call to arrive")
        task.cancel()
        #expect(try await outcome.next("the cancellation") == .cancelled)
        echo.gate.open("x")
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }

    @BrokerActor @Test func aCallThatIsLateIsATimeout() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        await #expect {
            try await fixture.client.call(
                Fixture.name, path: Fixture.path, interface: Fixture.name, member: "Wait", "late",
                timeoutMicroseconds: 1_000)
        } throws: {
            ($0 as? BusError)?.name == "org.freedesktop.DBus.Error.Timeout"
                || ($0 as? BusError)?.name == "org.freedesktop.DBus.Error.NoReply"
        }
        echo.gate.open(try await echo.gate.arrivals.next("the call to arrive"))
    }

    @BrokerActor @Test func closingEndsTheCallsThatWait() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        let outcome = Mailbox<BusError?>()
        BrokerActor.start {
            do throws(BusError) {
                try await fixture.call("Wait", "x")
                outcome.post(nil)
            } catch {
                outcome.post(error)
            }
        }
        _ = try await echo.gate.arrivals.next("the call to arrive")
        fixture.client.close()
        #expect(try await outcome.next("the close") == .disconnected)
        await #expect(throws: BusError.disconnected) { try await fixture.call("Flag", true) }
        #expect(throws: BusError.disconnected) {
            try fixture.client.emit(signal: "X", interface: "org.lab.X", path: "/", to: nil)
        }
        #expect(!fixture.client.isOpen)
        echo.gate.open("x")
    }

    @BrokerActor @Test func aBusThatDiesEndsTheCallsThatWaitAndIsTold() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        let told = Mailbox<Void>()
        let watch = try fixture.client.onDisconnect { told.post(()) }
        let outcome = Mailbox<BusError?>()
        BrokerActor.start {
            do throws(BusError) {
                try await fixture.call("Wait", "x")
                outcome.post(nil)
            } catch {
                outcome.post(error)
            }
        }
        _ = try await echo.gate.arrivals.next("the call to arrive")
        await fixture.bus.kill()
        #expect(try await outcome.next("the call's end") != nil)
        try await told.next("the disconnect")
        echo.gate.open("x")
        watch.cancel()
    }
}
