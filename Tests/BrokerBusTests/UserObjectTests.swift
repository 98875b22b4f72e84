import Testing

@testable import BrokerBus

/// One object for each user, and no other name for it.
@Suite struct UserObjectTests {
    @Test(arguments: [0, 1, 1000, 65_534, 4_294_967_294] as [UInt32])
    func aPlainNumberNamesAUser(_ userID: UInt32) {
        #expect(Contract.userID(ofObject: "/org/chatelaine/Broker1/user/\(userID)") == userID)
    }

    @Test(arguments: [
        "", "/", "/user", "/user/", "/user/01", "/user/+1", "/user/-1", "/user/ 1", "/user/1/", "/user/1/2",
        "/user/0x1",
        "/user/4294967295", "/user/4294967296", "/user/18446744073709551617", "/user/\u{661}", "/session/1",
        "user/1",
        "/user1",
    ])
    func anythingElseNamesNone(_ rest: String) {
        #expect(Contract.userID(ofObject: "/org/chatelaine/Broker1" + rest) == nil)
    }
}
