internal import CCurl
internal import Sodium

/// What has come of an answer, in secret memory.
@safe final class ResponseBody {
    private var pieces: [SharedSecret] = []
    private var count = 0
    /// It passed the limit, and was broken off.
    private(set) var isTooLarge = false

    init() {}

    /// All of it.
    func joined() -> SharedSecret {
        SharedSecret(
            Secret(count: count) { target in
                var place = 0
                for piece in pieces {
                    for index in 0..<piece.secret.count {
                        target[place + index] = Text.byte(piece.secret, at: index)
                    }
                    place += piece.secret.count
                }
            })
    }

    /// Called by libcurl with each piece; anything but its size ends the request.
    let writer: curl_write_callback = { bytes, size, count, body in
        guard let body = unsafe body else { return 0 }
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        let response = unsafe Unmanaged<ResponseBody>.fromOpaque(body).takeUnretainedValue()
        return unsafe response.append(piece) ? piece.count : 0
    }

    @unsafe private func append(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard count + piece.count <= CurlTransport.responseBytesMax else {
            isTooLarge = true
            return false
        }
        pieces.append(
            SharedSecret(
                Secret(count: piece.count) { target in
                    for index in piece.indices { target[index] = unsafe piece[index] }
                }))
        count += piece.count
        return true
    }
}
