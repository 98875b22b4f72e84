internal import CGcrypt
internal import Sodium

/// One use of AES-128-CBC. Its key schedule is in libgcrypt's secure memory, and wiped on release.
@safe struct Cipher: ~Copyable {
    private let handle: gcry_cipher_hd_t

    /// Nil for a key or a vector that is not 16 bytes long, or where libgcrypt cannot be used.
    init?(key: Span<UInt8>, vector: [UInt8]) {
        guard Library.isReady, key.count == AES128CBC.blockBytes, vector.count == AES128CBC.blockBytes else {
            return nil
        }
        var handle: gcry_cipher_hd_t?
        let algorithm = Int32(GCRY_CIPHER_AES.rawValue)
        let mode = Int32(GCRY_CIPHER_MODE_CBC.rawValue)
        let flags = UInt32(GCRY_CIPHER_SECURE.rawValue)
        guard unsafe gcry_cipher_open(&handle, algorithm, mode, flags) == 0, let handle = unsafe handle else {
            return nil
        }
        let isKeyed = unsafe key.withUnsafeBufferPointer {
            unsafe gcry_cipher_setkey(handle, $0.baseAddress, $0.count) == 0
        }
        guard isKeyed, unsafe gcry_cipher_setiv(handle, vector, vector.count) == 0 else {
            unsafe gcry_cipher_close(handle)
            return nil
        }
        unsafe self.handle = handle
    }

    deinit { unsafe gcry_cipher_close(handle) }

    /// In place; whole blocks.
    borrowing func encrypt(_ target: inout MutableSpan<UInt8>) -> Bool {
        unsafe target.withUnsafeMutableBufferPointer { output in
            unsafe gcry_cipher_encrypt(handle, output.baseAddress, output.count, nil, 0) == 0
        }
    }

    /// Whole blocks, as many as there is room for.
    borrowing func decrypt(_ sealed: Span<UInt8>, into target: inout MutableSpan<UInt8>) -> Bool {
        unsafe target.withUnsafeMutableBufferPointer { output in
            unsafe sealed.withUnsafeBufferPointer { input in
                unsafe gcry_cipher_decrypt(
                    handle, output.baseAddress, output.count, input.baseAddress, input.count) == 0
            }
        }
    }
}
