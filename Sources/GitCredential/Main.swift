internal import CredentialProtocols

/// `git-credential-chatelaine`.
@main enum Main {
    static func main() { HelperProcess.run { await GitProgram.run($0) } }
}
