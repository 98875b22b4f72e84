import Glibc

/// A file descriptor with one owner, closed when its last holder lets go: also when a look-up is refused,
/// abandoned or too late.
final class Descriptor: Sendable {
    let raw: Int32

    init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }
}
