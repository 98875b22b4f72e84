import Foundation
import TestKit
import Testing

@Suite struct TranscriptTests {
    init() { TestLoop.start() }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []).sorted()

    @Test func thereAreTranscripts() { #expect(!Self.names.isEmpty) }

    @Test(arguments: names) func theCommandSaysWhatTheTranscriptSays(name: String) async throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        let stage = try await Stage()
        var captures = Captures(folder: stage.folder.path)
        for step in try Transcript(text).steps {
            let arguments = step.arguments.map(captures.filled)
            let outcome = try await stage.run(arguments, input: captures.filled(step.input))
            let place: Comment = "\(name):\(step.line) \(arguments)"
            let isOutputRight = captures.matches(outcome.text, step.output)
            #expect(isOutputRight, "\(place): \(outcome.text)")
            let areErrorsRight = captures.matches(outcome.errors, step.errors)
            #expect(areErrorsRight, "\(place): \(outcome.errors)")
            #expect(outcome.status == .exited(try #require(step.status, place)), place)
            for file in step.absentFiles.map(captures.filled) {
                #expect(!FileManager.default.fileExists(atPath: file), "\(place): \(file) is there")
            }
            for text in step.absentTexts { #expect(!stage.isStored(text), "\(place): \(text) is stored") }
        }
    }
}
