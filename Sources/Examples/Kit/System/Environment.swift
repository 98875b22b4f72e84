internal import Glibc

/// What the program was started with.
public enum Environment {
    /// The value of a variable; nil where it is not set.
    public static func value(of name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
