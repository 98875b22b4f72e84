import Testing

@testable import SDBus

@Suite struct SignatureTests {
    @Test func completeTypesAreCounted() {
        for (signature, count) in [
            ("", 0), ("s", 1), ("as", 1), ("a{sv}", 1), ("a{sv}(oayay)", 2), ("aa{sv}st", 3),
            ("(a(ii)a{s(uu)})u", 2),
        ] {
            #expect(Signature.count(signature) == count, "\(signature)")
        }
    }

    @Test func fieldNamesOfTheJournalAreChecked() {
        for name in ["MESSAGE", "A1_B"] { #expect(Journal.isFieldName(name)) }
        for name in ["", "_PID", "1A", "a", "A-B", "A=B", "Ä"] { #expect(!Journal.isFieldName(name)) }
    }
}
