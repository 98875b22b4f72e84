/// Where the room says what went wrong and nobody is there to be told: a reply that could not be sent.
@BrokerActor public enum BusLog {
    /// Takes one line, which holds no message contents. Replace it at start; it drops everything until then.
    public static var sink: @BrokerActor (String) -> Void = { _ in }
}
