// The README's examples of the library, as one program: LibraryExamples NAME. The tests run each of them against a
// broker, and .ci/examples holds the README to them line by line.

import Glibc

let examples: [String: @Sendable () async throws -> Void] = [
    "vault": vaultExample, "token": tokenExample, "launch": launchExample, "events": eventsExample,
    "cache": cacheExample, "key": keyExample, "migration": migrationExample,
    "session": sessionExample,
]

guard CommandLine.arguments.count >= 2, let example = examples[CommandLine.arguments[1]] else {
    print("usage: LibraryExamples " + examples.keys.sorted().joined(separator: " | "))
    exit(64)
}
try await example()
