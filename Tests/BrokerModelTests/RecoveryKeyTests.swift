import BrokerModel
import Sodium
import Testing

/// The recovery key as people write it down and type it.
@Suite struct RecoveryKeyTests {
    private let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private func text(_ secret: borrowing Secret) -> String {
        String(decoding: (0..<secret.count).map { secret.span[$0] }, as: UTF8.self)
    }

    private func parse(_ text: String) throws(RecoveryKey.Mistake) -> String {
        let key = try RecoveryKey(Secret(copying: Array(text.utf8).span))
        return self.text(key.symbols.secret)
    }

    private func mistake(_ text: String) -> RecoveryKey.Mistake? {
        do throws(RecoveryKey.Mistake) {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    private var fresh: (shown: String, symbols: String) {
        let key = RecoveryKey.random()
        return (text(key.shown.secret), text(key.symbols.secret))
    }

    /// Whoever has written one down can open with it for good. The checks were reckoned by another program.
    @Test func theFormStaysAsItIs() throws {
        #expect(
            try parse("00005-0000A-0000F-0000M-0000H-0000Y-0000V") == "000050000A0000F0000M0000H0000Y0000V")
        #expect(mistake("01233-4567V-89AB2-CDEFE-GHJK1-MNPQS-RSTV0") == nil)
        #expect(mistake("01234-4567V-89AB2-CDEFE-GHJK1-MNPQS-RSTV1") == .check([1, 7]))
    }

    @Test func aKeyHasSevenGroupsOfFiveAndIsReadAsItIsShown() throws {
        for _ in 0..<100 {
            let (shown, symbols) = fresh
            let groups = shown.split(separator: "-", omittingEmptySubsequences: false)
            #expect(groups.count == 7 && groups.allSatisfy { $0.count == 5 })
            #expect(shown.allSatisfy { $0 == "-" || alphabet.contains($0) })
            #expect(groups.joined() == symbols)
            #expect(try parse(shown) == symbols)
        }
    }

    @Test func everyCharacterOfAKeyIsDrawn() {
        var seen: Set<Character> = []
        for _ in 0..<200 { seen.formUnion(fresh.symbols) }
        #expect(seen == Set(alphabet))
        #expect(Set((0..<200).map { _ in fresh.symbols }).count == 200)
    }

    @Test func caseSpacesDashesAndLookAlikesDoNotMatter() throws {
        let (shown, symbols) = fresh
        let spellings = [
            symbols, shown.lowercased(), shown.replacing("-", with: " "), " \(shown)\r\n\t",
            shown.replacing("-", with: " - "), shown.replacing("1", with: "l"),
            shown.replacing("1", with: "I"),
            shown.replacing("0", with: "o"), shown.replacing("0", with: "O").lowercased(),
        ]
        for spelling in spellings { #expect(try parse(spelling) == symbols) }
    }

    @Test func everyWrongCharacterIsFoundInItsGroup() {
        let key = Array(fresh.symbols)
        for place in key.indices {
            for other in alphabet where other != key[place] {
                var wrong = key
                wrong[place] = other
                #expect(mistake(String(wrong)) == .check([place / 5 + 1]))
            }
        }
    }

    @Test func everyTwoOfAGroupThatChangedPlacesAreFound() {
        for _ in 0..<20 {
            let key = Array(fresh.symbols)
            for group in 0..<7 {
                for left in 0..<5 {
                    for right in left + 1..<5 where key[group * 5 + left] != key[group * 5 + right] {
                        var wrong = key
                        wrong.swapAt(group * 5 + left, group * 5 + right)
                        #expect(mistake(String(wrong)) == .check([group + 1]))
                    }
                }
            }
        }
    }

    @Test func groupsThatChangedPlacesAreFound() {
        let groups = fresh.shown.split(separator: "-")
        for left in 0..<7 {
            for right in left + 1..<7 where groups[left] != groups[right] {
                var wrong = groups
                wrong.swapAt(left, right)
                #expect(mistake(wrong.joined(separator: "-")) == .check([left + 1, right + 1]))
            }
        }
    }

    @Test func whatIsMissingOrTooMuchIsCounted() {
        let symbols = fresh.symbols
        #expect(mistake("") == .length(0))
        #expect(mistake(String(symbols.dropLast())) == .length(34))
        #expect(mistake(symbols + "0") == .length(36))
        #expect(mistake(String(repeating: "0", count: 1024)) == .length(1024))
    }

    @Test func aStrangeCharacterIsNamedByItsGroupAndNotShown() {
        var key = Array(fresh.symbols)
        key[12] = "U"
        #expect(mistake(String(key)) == .strange([3]))
        key[34] = "ü"
        #expect(mistake(String(key)) == .strange([3, 7]))
        #expect(
            RecoveryKey.Mistake.strange([3]).text
                == "Group 3 has a character that is in no recovery key: they have digits and the letters A to Z without I, L, O and U."
        )
        #expect(
            RecoveryKey.Mistake.check([2, 5, 6]).text
                == "One of the groups 2, 5 and 6 has a mistake: its check character does not fit.")
    }
}
