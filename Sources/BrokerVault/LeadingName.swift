/// What the attribute is called that led the last search of its kind to few items: most searches are by the same names, and
/// one that begins there need not count. It may be wrong, which costs that count.
final class LeadingName {
    var name: [UInt8]?
}
