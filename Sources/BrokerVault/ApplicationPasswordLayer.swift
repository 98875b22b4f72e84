internal import BrokerModel
internal import Sodium

/// The second layer over the secret of an item whose access control says `application-password`: version (1) ‖
/// passes (4) ‖ KiB of memory (4) ‖ salt (16) ‖ the secret sealed under the Argon2id hash of the password.
///
/// It is encryption and no question: without the password the broker itself cannot read the secret.
enum ApplicationPasswordLayer {
    private static let version: UInt8 = 1
    private static let headerBytes = 1 + 4 + 4 + Argon2id.saltBytes
    private static let context = Array("chatelaine-application-password".utf8)

    /// What a password's key is derived with.
    struct Parameters: Equatable, Sendable {
        let cost: Argon2id.Cost
        let salt: [UInt8]

        static func fresh() -> Parameters {
            Parameters(cost: .standard, salt: Random.bytes(Argon2id.saltBytes))
        }

        init(cost: Argon2id.Cost, salt: [UInt8]) {
            self.cost = cost
            self.salt = salt
        }

        /// Nil for a layer of another version or with costs out of bounds.
        init?(of layered: borrowing Secret) {
            var reader = ByteReader(layered.span)
            guard reader.number(UInt8.self) == version, let passes = reader.number(UInt32.self),
                let memory = reader.number(UInt32.self), let salt = reader.raw(Argon2id.saltBytes),
                let cost = Argon2id.Cost(passes: passes, memoryKiB: memory)
            else { return nil }
            self.init(cost: cost, salt: salt)
        }

        fileprivate var bytes: [UInt8] {
            var writer = ByteWriter(capacity: headerBytes)
            writer.number(version)
            writer.number(cost.passes)
            writer.number(cost.memoryKiB)
            writer.raw(salt)
            return writer.bytes
        }
    }

    static func wrap(_ secret: borrowing Secret, _ parameters: Parameters, key: borrowing Key) -> Secret {
        let header = parameters.bytes
        let layered = header + XChaCha20Poly1305.seal(secret, key: key, associatedData: context + header)
        return Secret(copying: layered.span)
    }

    /// Nil for the wrong password, and for a layer that is damaged.
    static func open(_ layered: borrowing Secret, key: borrowing Key) -> Secret? {
        guard let parameters = Parameters(of: layered) else { return nil }
        return XChaCha20Poly1305.open(
            layered.span.extracting(headerBytes...), key: key, associatedData: context + parameters.bytes)
    }
}

extension Protection {
    /// Whether the secret has a second layer.
    var hasApplicationPassword: Bool {
        guard case .accessControl(let control) = self else { return false }
        return control.flags.contains(.applicationPassword)
    }
}
