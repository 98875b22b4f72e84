/// Just enough of D-Bus signatures to count the complete types in one.
enum Signature {
    /// How many complete types it has.
    static func count(_ signature: String) -> Int {
        var depth = 0
        var count = 0
        for byte in signature.utf8 {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "a"): continue
            default: break
            }
            if depth == 0 { count += 1 }
        }
        return count
    }

    /// The names as a vtable wants them, each with a NUL; a name for every type, made up where one is missing.
    static func names(_ given: [String], for signature: String) -> String {
        (0..<count(signature)).map { index in
            (index < given.count ? given[index] : "arg\(index)") + "\0"
        }.joined()
    }
}
