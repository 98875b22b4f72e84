internal import Chatelaine
internal import Console
internal import Sodium

/// A registry's credential, as docker hands it over and takes it.
struct DockerCredentials: Sendable {
    let serverURL: String
    /// A name, or `<token>` where the secret is an identity token.
    let username: String
    let secret: SecretSlice

    init(serverURL: String, username: String, secret: SecretSlice) {
        self.serverURL = serverURL
        self.username = username
        self.secret = secret
    }

    /// Reads what docker hands over.
    init(_ text: SharedSecret) throws(HelperFailure) {
        let strings: [String: SecretSlice]
        do throws(JSONReader.Mistake) {
            strings = try JSONReader.strings(["ServerURL", "Username", "Secret"], of: text)
        } catch {
            throw HelperFailure("the request is no JSON object of strings; byte \(error.offset) is wrong")
        }
        guard let serverURL = strings["ServerURL"]?.openText, !serverURL.isEmpty else {
            throw DockerMessage.noServerURL
        }
        guard let username = strings["Username"]?.openText, !username.isEmpty else {
            throw DockerMessage.noUsername
        }
        self.init(
            serverURL: serverURL, username: username,
            secret: strings["Secret"] ?? SecretSlice(SharedSecret(Secret(copying: [UInt8]().span))))
    }

    /// The item that keeps it, beside the secret.
    var item: Attributes {
        var item = Self.key(serverURL)
        item["Generic"] = .text(username)
        item["Label"] = .text("Docker Credentials")
        return item
    }

    /// Which item is a registry's.
    static func key(_ serverURL: String) -> Attributes {
        var key = Attributes()
        key["Class"] = .text("generic-password")
        key["Service"] = .text(serverURL)
        key["Account"] = .text("")
        return key
    }

    /// As docker takes it, on one line.
    var answer: Secret {
        let open = JSON.object([
            JSON.Member("ServerURL", .string(serverURL)), JSON.Member("Username", .string(username)),
        ])
        var text = SecretText()
        text.append(open.text.dropLast() + ",\"Secret\":\"")
        text.append(SecretSlice(SharedSecret(secret.escapedForJSON())))
        text.append("\"}\n")
        return text.secret()
    }
}

/// What docker knows a helper's errors by, word for word.
enum DockerMessage {
    static let notFound = HelperFailure("credentials not found in native keychain")
    static let noServerURL = HelperFailure("no credentials server URL")
    static let noUsername = HelperFailure("no credentials username")
}
