// One form for each number of results: a pack of one cannot be inferred from what a closure returns.
// Disfavoured, so that a closure of several statements that answers nothing needs no type.

extension Method {
    /// A method with no result, answered now or later.
    @inlinable @_disfavoredOverload public init<each Argument: BusDecodable>(
        _ name: String, in inputs: [String] = [],
        _ body: @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError) -> Answer<Void>
    ) {
        self.init(name, inputs, [], output: "", answer: body) { (_, _) throws(BusError) in }
    }

    /// A method with one result, answered now or later.
    @inlinable @_disfavoredOverload public init<each Argument: BusDecodable, R: BusEncodable & ~Copyable>(
        _ name: String, in inputs: [String] = [], out outputs: [String] = [],
        _ body: @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError) -> Answer<R>
    ) {
        self.init(name, inputs, outputs, output: R.signature, answer: body) {
            (result: borrowing R, writer: inout MessageWriter) throws(BusError) in
            try result.encode(to: &writer)
        }
    }

    /// A method with two results, answered now or later.
    @inlinable @_disfavoredOverload
    public init<each Argument: BusDecodable, R1: BusEncodable, R2: BusEncodable>(
        _ name: String, in inputs: [String] = [], out outputs: [String] = [],
        _ body:
            @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError) -> Answer<(R1, R2)>
    ) {
        self.init(name, inputs, outputs, output: R1.signature + R2.signature, answer: body) {
            (result, writer) throws(BusError) in
            try result.0.encode(to: &writer)
            try result.1.encode(to: &writer)
        }
    }

    /// A method with three results, answered now or later.
    @inlinable @_disfavoredOverload
    public init<each Argument: BusDecodable, R1: BusEncodable, R2: BusEncodable, R3: BusEncodable>(
        _ name: String, in inputs: [String] = [], out outputs: [String] = [],
        _ body:
            @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError) -> Answer<
                (R1, R2, R3)
            >
    ) {
        self.init(name, inputs, outputs, output: R1.signature + R2.signature + R3.signature, answer: body) {
            (result, writer) throws(BusError) in
            try result.0.encode(to: &writer)
            try result.1.encode(to: &writer)
            try result.2.encode(to: &writer)
        }
    }

    /// A method with four results, answered now or later.
    @inlinable
    public init<
        each Argument: BusDecodable, R1: BusEncodable, R2: BusEncodable, R3: BusEncodable, R4: BusEncodable
    >(
        _ name: String, in inputs: [String] = [], out outputs: [String] = [],
        _ body:
            @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError) -> Answer<
                (R1, R2, R3, R4)
            >
    ) {
        self.init(
            name, inputs, outputs, output: R1.signature + R2.signature + R3.signature + R4.signature,
            answer: body
        ) { (result, writer) throws(BusError) in
            try result.0.encode(to: &writer)
            try result.1.encode(to: &writer)
            try result.2.encode(to: &writer)
            try result.3.encode(to: &writer)
        }
    }
}
