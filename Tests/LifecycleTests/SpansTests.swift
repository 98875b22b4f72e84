import Testing

/// What the simulation reckons excuses with.
@Suite struct SpansTests {
    @Test func whatIsTakenOutIsNotCounted() {
        let free = Spans([0..<100]).without(10..<20).without(50..<200)
        #expect(free.ranges == [0..<10, 20..<50])
        #expect(free.longest(in: 0..<100) == 30)
        #expect(free.longest(in: 5..<25) == 5)
        #expect(free.longest(in: 50..<90) == 0)
        #expect(free.without(0..<50).ranges == [])
    }
}
