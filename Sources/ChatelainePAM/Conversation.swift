internal import Sodium

/// A D-Bus connection of two calls: one that proves that the broker itself answers, and one that hands over.
///
/// Whose program listens is seen before the first byte. But the program that has made a socket may have left it to
/// another, and become the broker's own program since. So it must answer a question that nobody could have answered
/// before, by what the kernel says of each byte's sender; and it must still be the broker's program after that.
struct Conversation {
    private let peer: Peer
    private let deadline: Deadline

    init(with peer: Peer, _ program: String, until deadline: Deadline) throws(Trouble) {
        self.peer = peer
        self.deadline = deadline
        let proof = try peer.process()
        try proof.runs(program)
        try authenticate()
        let serial = Wire.randomSerial()
        try peer.send(
            Wire.call("org.freedesktop.DBus.Peer", "Ping", on: "/org/chatelaine/Broker1", serial: serial))
        guard try reply(to: serial) else { throw .silent }
        try proof.runs(program)
    }

    /// Makes the call with the secret as its one argument; whether it was answered, and not refused.
    func call(
        _ interface: String, _ member: String, on path: String, _ secret: SharedSecret
    ) throws(Trouble) -> Bool {
        let serial = Wire.randomSerial()
        let head = Wire.call(
            interface, member, on: path, serial: serial, secretBytes: secret.secret.count)
        let message = Secret(count: head.count + secret.secret.count) { target in
            for (place, byte) in head.enumerated() { target[place] = byte }
            target.copy(secret.secret, at: head.count)
        }
        try peer.send(message)
        return try reply(to: serial)
    }

    private func authenticate() throws(Trouble) {
        try peer.send([0] + Array("AUTH EXTERNAL \(Wire.hexadecimal(OwnProcess.userID))\r\n".utf8))
        let line = try received { $0.last == UInt8(ascii: "\n") ? $0.count : nil }
        guard line.starts(with: "OK ".utf8) else { throw .silent }
        try peer.send(Array("BEGIN\r\n".utf8))
    }

    // Signals come in between.
    private func reply(to serial: UInt32) throws(Trouble) -> Bool {
        while true {
            let head = try received { Wire.bytesWanted(for: $0) }
            guard let message = Wire.Reply(head) else { throw .silent }
            if message.serial == serial { return message.isReturn }
        }
    }

    // As many bytes as `length` says once it can tell; nil asks for one more, so that none of the next message is taken.
    private func received(_ length: ([UInt8]) -> Int?) throws(Trouble) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let wanted = length(bytes) ?? bytes.count + 1
            guard wanted > bytes.count else { return bytes }
            guard wanted <= Wire.messageBytesMax else { throw .silent }
            bytes += try peer.receive(max: wanted - bytes.count, until: deadline)
        }
    }
}
