import BrokerModel
import SDBus
import Testing

@testable import BrokerBus

/// The one switch from a refusal to an error on the wire (INTERFACE, errors).
@Suite struct RefusalTests {
    @Test(arguments: Refusal.Kind.allCases)
    func everyRefusalHasItsNameItsSentenceAndItsCode(kind: Refusal.Kind) {
        let error = BusError(Refusal(kind, "A sentence for a person."))
        #expect(error.name == "org.chatelaine.Error." + kind.rawValue)
        #expect(error.message.hasPrefix("A sentence for a person."))
        if let status = kind.status {
            #expect(error.message.hasSuffix(" (\(status.name), \(status.code))"))
            #expect(status.name.hasPrefix("errSec") && status.code < 0)
        } else {
            #expect(error.message == "A sentence for a person.")
        }
        #expect(error.kind == kind)
    }

    @Test(arguments: [
        (Refusal.Kind.param, -50), (.itemNotFound, -25300), (.duplicateItem, -25299),
        (.interactionNotAllowed, -25308), (.authFailed, -25293), (.userCanceled, -128),
        (.missingEntitlement, -34018), (.notAvailable, -25291), (.readOnly, -25292),
        (.noSuchAttribute, -25303),
        (.noSuchClass, -25306), (.tooLarge, -25302), (.decode, -26275), (.io, -36),
    ])
    func theCodesAreTheContracts(kind: Refusal.Kind, code: Int) { #expect(kind.status?.code == code) }

    @Test(arguments: [
        Refusal.Kind.revisionMismatch, .leaseLost, .busy, .encryptionRequired, .noSession, .quotaExceeded,
        .policyInvalid, .identityUnavailable, .accessDenied,
    ])
    func theOthersHaveNone(kind: Refusal.Kind) { #expect(kind.status == nil) }

    @Test func aRevisionGoesAlongWithAMismatchAlone() {
        #expect(BusError(Refusal.revisionMismatch(current: 42)).extra == 42)
        #expect(BusError(Refusal(.param, "x")).extra == nil)
    }

    @Test func anotherServicesErrorIsNotOurs() {
        #expect(BusError(name: "org.freedesktop.DBus.Error.Failed", message: "x").kind == nil)
        #expect(BusError(name: "org.chatelaine.Error.Unheard", message: "x").kind == nil)
    }
}
