/// A method of an interface.
///
/// Its signatures come from the handler's types. `in` and `out` name the arguments for introspection. A single result
/// may encode several values and then has several names in `out`.
public struct Method {
    let box: MethodBox

    private init(_ box: MethodBox) {
        self.box = box
    }

    @usableFromInline init(
        _ name: String, _ inputs: [String], _ input: String, _ outputs: [String], _ output: String,
        serve: @escaping @BrokerActor (borrowing Call) throws(BusError) -> Void
    ) {
        box = MethodBox(
            name: name, inputs: inputs, input: input, outputs: outputs, output: output, isSensitive: false,
            serve: serve)
    }

    /// The same method, whose calls and replies are wiped from memory when they have been dealt with.
    public var sensitive: Method {
        Method(
            MethodBox(
                name: box.name, inputs: box.inputs, input: box.input, outputs: box.outputs,
                output: box.output,
                isSensitive: true, serve: box.serve))
    }

    /// The core of all forms: decodes, runs the handler, encodes now or later.
    @inlinable init<each Argument: BusDecodable, Result: ~Copyable>(
        _ name: String, _ inputs: [String], _ outputs: [String], output: String,
        answer body:
            @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError)
            -> Answer<Result>,
        encode: @escaping @Sendable (borrowing Result, inout MessageWriter) throws(BusError) -> Void
    ) {
        var input = ""
        for signature in repeat (each Argument).signature { input += signature }
        self.init(name, inputs, input, outputs, output) { (call: borrowing Call) throws(BusError) in
            var reader = call.makeReader()
            let answer = try body(call, repeat try (each Argument)(from: &reader))
            switch consume answer {
            case .now(let result):
                try call.reply { (writer) throws(BusError) in try encode(result, &writer) }
            case .later(let work):
                let reply = call.makeDeferred()
                BrokerActor.start { await reply.serve(work, encode: encode) }
            }
        }
    }

    /// The core of the forms that always answer at once.
    @inlinable init<each Argument: BusDecodable, Result: ~Copyable>(
        _ name: String, _ inputs: [String], _ outputs: [String], output: String,
        result body: @escaping @BrokerActor (borrowing Call, repeat each Argument) throws(BusError) -> Result,
        encode: @escaping @Sendable (borrowing Result, inout MessageWriter) throws(BusError) -> Void
    ) {
        var input = ""
        for signature in repeat (each Argument).signature { input += signature }
        self.init(name, inputs, input, outputs, output) { (call: borrowing Call) throws(BusError) in
            var reader = call.makeReader()
            let result = try body(call, repeat try (each Argument)(from: &reader))
            try call.reply { (writer) throws(BusError) in try encode(result, &writer) }
        }
    }
}

/// What the vtable points to: sd-bus hands it to the thunk as userdata.
final class MethodBox {
    let name: String
    let inputs: [String]
    let input: String
    let outputs: [String]
    let output: String
    let isSensitive: Bool
    let serve: @BrokerActor (borrowing Call) throws(BusError) -> Void

    init(
        name: String, inputs: [String], input: String, outputs: [String], output: String, isSensitive: Bool,
        serve: @escaping @BrokerActor (borrowing Call) throws(BusError) -> Void
    ) {
        self.name = name
        self.inputs = inputs
        self.input = input
        self.outputs = outputs
        self.output = output
        self.isSensitive = isSensitive
        self.serve = serve
    }
}
