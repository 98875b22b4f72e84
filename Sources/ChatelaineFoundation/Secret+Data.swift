internal import Chatelaine
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Sodium

extension Secret {
    /// A copy of the bytes, which stay in the caller's memory until it wipes them.
    public init(_ data: Data) { self.init(copying: data.span) }

    /// The secret as `Data`, which cannot be wiped: a convenience for what needs it anyway.
    public borrowing func data() -> Data { Data(bytes()) }
}
