internal import CredentialProtocols

/// `docker-credential-chatelaine`.
@main enum Main {
    static func main() { HelperProcess.run { await DockerProgram.run($0) } }
}
