import Foundation
import Sodium
import Testing

@testable import ChatelaineCommand

/// A file that is rewritten: what is kept of it, and when it is left alone.
@Suite(.serialized) struct OldFileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "chatelaine-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func write(_ text: String) throws -> String {
        let path = folder + "/file"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private func rewrite(_ path: String, meanwhile: () throws -> Void = {}) throws {
        var new = try NewFile(for: path)
        let old = try OldFile.read(path)
        try meanwhile()
        try new.replace(old, by: Secret(copying: Array("new".utf8).span))
    }

    private func end() throws { try FileManager.default.removeItem(atPath: folder) }

    @Test func itIsReplacedWithItsMode() throws {
        let path = try write("old")
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        try rewrite(path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o604)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        try end()
    }

    @Test func whatWasWrittenMeanwhileStays() throws {
        let path = try write("old")
        #expect(throws: Failure.self) {
            try rewrite(path) {
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.write(contentsOf: Data("mine".utf8))
            }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        try end()
    }

    @Test func whatTookItsPlaceMeanwhileStays() throws {
        let path = try write("old")
        #expect(throws: Failure.self) {
            try rewrite(path) {
                try "other".write(toFile: path + "2", atomically: false, encoding: .utf8)
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.moveItem(atPath: path + "2", toPath: path)
            }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "other")
        try end()
    }

    @Test func theLockIsOneForAll() throws {
        let path = try write("old")
        let lock = try NewFile(for: path)
        #expect(throws: Failure.self) { try rewrite(path) }
        #expect(FileManager.default.fileExists(atPath: path + ".lock"))
        _ = consume lock
        try rewrite(path)
        try end()
    }
}
