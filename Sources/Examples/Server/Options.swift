import ExampleAuthority

/// What the command line says.
struct Options {
    var rules = TokenAuthority.Rules()
    /// How long a refresh is under way before the server looks at it, and its answer after that.
    var delayMicroseconds: UInt64 = 0

    /// Nil where it says something else.
    init?(_ arguments: [String]) {
        guard arguments.count.isMultiple(of: 2) else { return nil }
        for index in stride(from: 0, to: arguments.count, by: 2) {
            guard let milliseconds = UInt64(arguments[index + 1]), milliseconds < 1 << 40 else { return nil }
            switch arguments[index] {
            case "--access-ms": rules.accessMicroseconds = milliseconds * 1000
            case "--grace-ms": rules.graceMicroseconds = milliseconds * 1000
            case "--delay-ms": delayMicroseconds = milliseconds * 1000
            default: return nil
            }
        }
    }
}
