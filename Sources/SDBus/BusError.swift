internal import CSystemd
internal import Glibc

/// A D-Bus error: what a handler throws to its caller, and what a call throws when it was refused.
public struct BusError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error's name, such as `org.freedesktop.DBus.Error.NoReply`.
    public let name: String
    /// A sentence for a person. It crosses the wire: no secret and no caller's data may be in it.
    public let message: String
    /// A number that goes as a second argument of type `t`; nil when the error has its message alone.
    public let extra: UInt64?

    /// An error by its name. A name that D-Bus does not allow goes out as `Failed`.
    public init(name: String, message: String, extra: UInt64? = nil) {
        self.name = name
        self.message = message
        self.extra = extra
    }

    /// The error that stands for an errno, positive or negative, as sd-bus names it.
    public init(errno code: Int32, _ message: String? = nil) {
        var error = unsafe sd_bus_error()
        unsafe sd_bus_error_set_errno(&error, code < 0 ? code : -code)
        name = unsafe error.name.map { unsafe String(cString: $0) } ?? SD_BUS_ERROR_FAILED
        self.message = unsafe message ?? error.message.map { unsafe String(cString: $0) } ?? ""
        extra = nil
        unsafe sd_bus_error_free(&error)
    }

    /// Name and message.
    public var description: String { "\(name): \(message)" }
}

extension BusError {
    /// `Failed`, with that text.
    public static func failed(_ message: String) -> BusError {
        BusError(name: SD_BUS_ERROR_FAILED, message: message)
    }

    /// `InvalidArgs`, with that text.
    public static func invalidArguments(_ message: String) -> BusError {
        BusError(name: SD_BUS_ERROR_INVALID_ARGS, message: message)
    }

    /// Somebody else owns the name that was asked for.
    public static let nameTaken = BusError(
        name: SD_BUS_ERROR_ADDRESS_IN_USE, message: "Another connection owns the name")

    /// The connection is closed.
    public static let disconnected = BusError(
        name: SD_BUS_ERROR_DISCONNECTED, message: "The connection is closed")

    /// The task that waited for the call was cancelled.
    public static let cancelled = BusError(errno: ECANCELED)

    /// True for the names that mean that nobody answers there.
    public var isServiceUnknown: Bool {
        name == SD_BUS_ERROR_SERVICE_UNKNOWN || name == SD_BUS_ERROR_NAME_HAS_NO_OWNER
    }
}

/// Throws what a negative result of sd-bus means.
@discardableResult
func check(_ result: Int32) throws(BusError) -> Int32 {
    if result < 0 { throw BusError(errno: result) }
    return result
}
