internal import Chatelaine

/// A verb with its options and operands, each allowed for it and there as often as it may be.
struct Invocation: Equatable {
    let verb: Verb
    var endpoint = Endpoint.user
    var isJSON = false
    private(set) var options: [Option: [String]] = [:]
    var operands: [String] = []

    init(_ verb: Verb) { self.verb = verb }

    /// The value of an option; nil where it is not given, empty where it is given without one.
    subscript(option: Option) -> String? { options[option]?.first }

    /// Every value of an option.
    func all(_ option: Option) -> [String] { options[option] ?? [] }

    /// Whether the option is given.
    func has(_ option: Option) -> Bool { options[option] != nil }

    /// Takes an option that the verb allows.
    mutating func add(_ option: Option, _ value: String) throws(Failure) {
        guard !has(option) || verb.repeats(option) else {
            throw .usage("\(option.name) is given twice", verb)
        }
        options[option, default: []].append(value)
    }
}
