public import Sodium

/// What a fetch gave: a secret and how long it is good for.
public struct FetchedSecret: Sendable {
    let secret: SharedSecret
    let lifetime: Duration?

    /// A secret that is good for that long from now on; nil: until it is told otherwise.
    public init(_ secret: consuming Secret, lifetime: Duration? = nil) {
        self.secret = SharedSecret(secret)
        self.lifetime = lifetime
    }
}
