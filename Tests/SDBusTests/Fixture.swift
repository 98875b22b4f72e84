import SDBus
import TestKit

/// A bus with a service and a client of it on the one loop.
@BrokerActor final class Fixture {
    static let path = "/org/lab/Echo"
    static let name = "org.lab.Echo1"

    let bus: PrivateBus
    let service: Connection
    let client: Connection
    private var kept: [Registration] = []

    /// Exports the interface and owns the name.
    init(_ interface: Interface) async throws {
        TestLoop.start()
        bus = try await PrivateBus.start()
        service = try Connection.open(address: bus.address)
        client = try Connection.open(address: bus.address)
        kept.append(try service.export([interface], at: Self.path))
        try await service.requestName(Self.name)
    }

    /// Calls the service from the client.
    @discardableResult func call<each Argument: BusEncodable>(
        _ member: String, _ arguments: repeat each Argument
    ) async throws(BusError) -> Reply {
        try await client.call(
            Self.name, path: Self.path, interface: Self.name, member: member, repeat each arguments,
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
    }
}
