// swift-tools-version: 6.2
import PackageDescription

// Every wall of the house stands here: a room may import what it lists and nothing else. The build
// holds it with `--explicit-target-dependency-import-check error` (Makefile).
let house: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: house)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestKit"], exclude: exclude, swiftSettings: house)
}

func demo(_ name: String, _ more: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: "Demo" + name,
        dependencies: ["BrokerModel", "Chatelaine", "DemoKit", "SDBus", "Sodium"] + more,
        path: "Sources/Examples/" + name, swiftSettings: house)
}

func program(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["CredentialProtocols", "SDBus"], swiftSettings: house)
}

let package = Package(
    name: "chatelaine",
    products: [
        .executable(name: "chatelained", targets: ["ChatelaineDaemon"]),
        .executable(name: "chatelaine", targets: ["ChatelaineCommand"]),
        .executable(name: "chatelaine-prompter", targets: ["ChatelainePrompter"]),
        .executable(name: "chatelaine-pam", targets: ["ChatelainePAM"]),
        .executable(name: "git-credential-chatelaine", targets: ["GitCredential"]),
        .executable(name: "docker-credential-chatelaine", targets: ["DockerCredential"]),
        .library(name: "Chatelaine", targets: ["Chatelaine"]),
        .library(name: "ChatelaineHTTP", targets: ["ChatelaineHTTP"]),
        .library(name: "ChatelaineFoundation", targets: ["ChatelaineFoundation"]),
        .executable(name: "demo-mail", targets: ["DemoMail"]),
        .executable(name: "demo-sync", targets: ["DemoSync"]),
        .executable(name: "demo-stranger", targets: ["DemoStranger"]),
        .executable(name: "demo-inbox", targets: ["DemoInbox"]),
        .executable(name: "demo-server", targets: ["DemoServer"]),
    ],
    targets: [
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),

        room("Sodium", ["CSodium"]),
        room("Gcrypt", ["CGcrypt", "Sodium"]),
        room("SQLite", ["CSQLite"]),
        room("SDBus", ["CSystemd"]),

        room("BrokerModel", ["Sodium"]),
        room("BrokerPolicy", ["BrokerModel"]),
        room("BrokerPeers", ["BrokerModel"]),
        room("BrokerHost", ["BrokerModel", "BrokerPolicy", "Sodium"]),
        room("BrokerGate", ["BrokerModel", "BrokerPolicy", "BrokerPeers"]),
        room("BrokerVault", ["BrokerModel", "BrokerGate", "Sodium", "SQLite"]),
        room("BrokerBus", ["BrokerModel", "SDBus", "Sodium"]),
        room("BrokerSessions", ["BrokerModel", "SDBus"]),
        room(
            "BrokerDesk",
            [
                "BrokerModel", "BrokerPeers", "BrokerPolicy", "BrokerGate", "BrokerVault", "SDBus", "Sodium",
            ]),
        room(
            "SecretServiceFront", ["BrokerModel", "BrokerBus", "BrokerDesk", "Gcrypt", "SDBus", "Sodium"]),
        room("Chatelaine", ["BrokerModel", "BrokerBus", "SDBus", "Sodium"]),
        room("ChatelaineHTTP", ["Chatelaine", "CCurl", "SDBus", "Sodium"]),
        room("ChatelaineFoundation", ["Chatelaine", "Sodium"]),
        room("Console", ["SDBus", "Sodium"]),
        room(
            "CredentialProtocols", ["BrokerHost", "BrokerModel", "Chatelaine", "Console", "SDBus", "Sodium"]),

        .executableTarget(
            name: "ChatelaineDaemon",
            dependencies: [
                "BrokerModel", "BrokerPolicy", "BrokerPeers", "BrokerGate", "BrokerVault", "BrokerBus",
                "BrokerDesk", "BrokerHost", "BrokerSessions", "SecretServiceFront", "SDBus", "Sodium",
            ],
            swiftSettings: house),
        .executableTarget(
            name: "ChatelaineCommand",
            dependencies: [
                "Chatelaine", "Console", "BrokerModel", "BrokerPolicy", "BrokerHost", "CredentialProtocols",
                "Gcrypt", "SDBus", "Sodium",
            ],
            swiftSettings: house),
        // Root runs it, with a password: it stands on as little as can be.
        .executableTarget(
            name: "ChatelainePAM", dependencies: ["SDBus", "Sodium"], swiftSettings: house),
        program("GitCredential"), program("DockerCredential"),
        .executableTarget(
            name: "ChatelainePrompter",
            dependencies: ["BrokerHost", "BrokerModel", "Chatelaine", "Console", "SDBus", "Sodium"],
            swiftSettings: house),

        .target(
            name: "TestKit", dependencies: ["SDBus"], path: "Tests/TestKit", swiftSettings: house),
        tests("SodiumTests", ["Sodium"]),
        tests("GcryptTests", ["Gcrypt", "Sodium"]),
        tests("SQLiteTests", ["SQLite"]),
        tests("SDBusTests", ["SDBus"]),
        tests("BrokerModelTests", ["BrokerModel", "Sodium"]),
        tests("BrokerGateTests", ["BrokerModel", "BrokerPeers", "BrokerPolicy", "BrokerGate"]),
        tests(
            "BrokerVaultTests", ["BrokerModel", "BrokerGate", "BrokerVault", "SDBus", "SQLite", "Sodium"],
            exclude: ["Fixtures"]),
        tests("BrokerDeskTests", ["BrokerModel", "BrokerDesk"]),
        tests(
            "LifecycleTests",
            [
                "BrokerModel", "BrokerPeers", "BrokerPolicy", "BrokerGate", "BrokerVault", "BrokerDesk",
                "Chatelaine", "ExampleAuthority", "SDBus", "SQLite", "Sodium",
            ]),
        tests("BrokerSessionsTests", ["BrokerModel", "BrokerSessions"]),
        tests("BrokerBusTests", ["BrokerModel", "BrokerBus", "SDBus", "Sodium"]),
        .testTarget(
            name: "BrokerPolicyTests", dependencies: ["BrokerModel", "BrokerPolicy"], exclude: ["Vectors"],
            swiftSettings: house),
        .testTarget(
            name: "BrokerPeersTests", dependencies: ["BrokerModel", "BrokerPeers"], swiftSettings: house),
        tests("CredentialProtocolsTests", ["Chatelaine", "CredentialProtocols", "Sodium"]),
        .testTarget(
            name: "ChatelaineCommandTests",
            dependencies: [
                "BrokerHost", "BrokerModel", "BrokerPolicy", "Chatelaine", "ChatelaineCommand",
                "ChatelaineDaemon", "Console", "SDBus", "Sodium", "TestKit",
            ],
            exclude: ["Transcripts"], swiftSettings: house),
        .executableTarget(
            name: "TokenClient", dependencies: ["Chatelaine", "ChatelaineHTTP"],
            path: "Tests/TokenClient", swiftSettings: house),
        .testTarget(
            name: "ChatelaineTokenTests",
            dependencies: [
                "BrokerModel", "Chatelaine", "ChatelaineDaemon", "ChatelaineHTTP", "SDBus", "Sodium",
                "LibraryExamples", "TestKit", "TokenClient",
            ],
            exclude: ["certificate.py", "fake_browser.py", "token_server.py"], swiftSettings: house),
        tests(
            "ChatelaineTests",
            [
                "BrokerModel", "Chatelaine", "ChatelaineDaemon", "ChatelaineFoundation", "SDBus", "SQLite",
                "LibraryExamples", "TestClient",
            ]),
        .executableTarget(
            name: "TestClient", dependencies: ["Chatelaine", "SDBus"], path: "Tests/TestClient",
            swiftSettings: house),
        .executableTarget(
            name: "FixtureService",
            dependencies: [
                "BrokerModel", "BrokerPolicy", "BrokerPeers", "BrokerGate", "BrokerVault", "BrokerBus",
                "BrokerDesk", "BrokerHost", "SecretServiceFront", "SDBus", "Sodium",
            ],
            path: "Tests/Conformance/FixtureService", swiftSettings: house),
        .executableTarget(
            name: "LibraryExamples", dependencies: ["Chatelaine", "ChatelaineFoundation", "ChatelaineHTTP"],
            path: "Tests/Examples", swiftSettings: house),

        .target(
            name: "DemoKit",
            dependencies: ["BrokerModel", "Chatelaine", "ChatelaineHTTP", "Console", "SDBus", "Sodium"],
            path: "Sources/Examples/Kit",
            swiftSettings: house),
        .target(name: "ExampleAuthority", path: "Sources/Examples/Authority", swiftSettings: house),
        demo("Mail"), demo("Sync"), demo("Stranger"), demo("Inbox"),
        demo("Server", ["ExampleAuthority"]),
    ],
    swiftLanguageModes: [.v6]
)
