public import Chatelaine
public import Console
public import Sodium

/// The one account of the demo, as all its programs name it.
public enum MailAccount {
    /// The group that the policy gives the mail program and its sync helper.
    public static let group = "org.example.mail"
    /// Where the account is: the service that a logout names.
    public static let service = "https://mail.example"

    /// The tokens of the account, in one item, which the sync helper needs while the screen is locked too.
    public static var token: Attributes { item("oauth-token") }
    /// The key that the mail program's drafts are encrypted with.
    public static var draftsKey: Attributes { item("drafts-key") }

    private static func item(_ account: String) -> Attributes {
        var attributes = Attributes()
        attributes["Class"] = .text("generic-password")
        attributes["Service"] = .text(service)
        attributes["Account"] = .text(account)
        return attributes
    }
}

extension Attributes {
    /// These with one more.
    public func with(_ key: String, _ value: Value) -> Attributes {
        var more = self
        more[key] = value
        return more
    }
}

extension SharedSecret {
    /// A line of standard input, read into locked memory alone.
    public static func fromStandardInput() throws(StreamFailure) -> SharedSecret {
        SharedSecret(try StandardStreams.readLine().take())
    }

    /// The secret as text, in memory that is neither locked nor wiped: the demo's secrets are made up, and a reader wants
    /// to see that they are the same.
    public var shown: String { secret.text() ?? "" }
}
