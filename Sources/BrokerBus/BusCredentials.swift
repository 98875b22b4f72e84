public import BrokerModel
public import SDBus

/// Asks the bus who a connection is (`GetConnectionCredentials`).
@BrokerActor public final class BusCredentials: CredentialSource {
    private let connection: Connection

    /// Asks over this connection.
    public init(_ connection: Connection) { self.connection = connection }

    /// Nil when the connection is gone or the bus does not answer.
    public nonisolated func credentials(of name: String) async -> ConnectionCredentials? {
        await ask(name)
    }

    private func ask(_ name: String) async -> ConnectionCredentials? {
        guard let reply = try? await connection.callBus("GetConnectionCredentials", name) else { return nil }
        return try? reply.withReader { (reader: inout MessageReader) throws(BusError) in
            var credentials = ConnectionCredentials()
            try reader.dictionary { key, value throws(BusError) in
                switch key {
                case "UnixUserID": credentials.userID = try value.read()
                case "ProcessID": credentials.processID = try value.read()
                case "UnixGroupIDs": credentials.groupIDs = try value.read()
                case "ProcessFD":
                    let descriptor = try value.read(UnixFD.self)
                    credentials.processFD = descriptor.release()
                case "LinuxSecurityLabel":
                    let label = try value.read([UInt8].self)
                    credentials.securityLabel = label.last == 0 ? label.dropLast() : label
                default: break
                }
            }
            return credentials
        }
    }
}
