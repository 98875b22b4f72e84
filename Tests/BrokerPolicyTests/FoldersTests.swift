import BrokerPolicy
import Testing

struct FoldersTests {
    private typealias Entry = PolicyFolders.Entry
    private typealias Folder = PolicyFolders.Folder

    private func paths(_ folders: [PolicyFolders.Folder]) -> [String] {
        PolicyFolders.plan(folders).files.map(\.path)
    }

    @Test func filesComeByNameWhicheverFolderTheyAreIn() {
        let folders = [
            Folder(path: "/usr", entries: [Entry(name: "90-z.conf"), Entry(name: "10-a.conf")]),
            Folder(path: "/etc", entries: [Entry(name: "50-m.conf"), Entry(name: "9-b.conf")]),
        ]
        #expect(paths(folders) == ["/usr/10-a.conf", "/etc/50-m.conf", "/etc/9-b.conf", "/usr/90-z.conf"])
    }

    @Test func aLaterFolderHidesTheSameName() {
        let plan = PolicyFolders.plan([
            Folder(path: "/usr", entries: [Entry(name: "a.conf"), Entry(name: "b.conf")]),
            Folder(path: "/run", entries: [Entry(name: "a.conf")]),
            Folder(path: "/etc", entries: [Entry(name: "a.conf")]),
        ])
        #expect(plan.files.map(\.path) == ["/etc/a.conf", "/usr/b.conf"])
        #expect(plan.hidden.map(\.path) == ["/usr/a.conf", "/run/a.conf"])
        #expect(plan.hidden.allSatisfy { $0.by == "/etc/a.conf" })
        #expect(plan.masks == [])
    }

    @Test(arguments: [PolicyFolders.Kind.empty, .linkToNull])
    func anEmptyFileOrALinkToNullMasks(_ kind: PolicyFolders.Kind) {
        let plan = PolicyFolders.plan([
            Folder(path: "/usr", entries: [Entry(name: "a.conf"), Entry(name: "b.conf")]),
            Folder(path: "/etc", entries: [Entry(name: "a.conf", kind: kind)]),
        ])
        #expect(plan.files.map(\.path) == ["/usr/b.conf"])
        #expect(plan.masks == ["/etc/a.conf"])
        #expect(plan.hidden.map(\.path) == ["/usr/a.conf"] && plan.hidden.map(\.by) == ["/etc/a.conf"])
    }

    @Test func aMaskIsHiddenByALaterFile() {
        let plan = PolicyFolders.plan([
            Folder(path: "/run", entries: [Entry(name: "a.conf", kind: .empty)]),
            Folder(path: "/etc", entries: [Entry(name: "a.conf")]),
        ])
        #expect(plan.files.map(\.path) == ["/etc/a.conf"])
        #expect(plan.masks == [])
    }

    @Test func theUsersOwnFilesHideAndMaskNothing() {
        let plan = PolicyFolders.plan([
            Folder(
                path: "/etc", entries: [Entry(name: "a.conf"), Entry(name: "b.conf"), Entry(name: "d.conf")]),
            Folder(
                path: "/home",
                entries: [
                    Entry(name: "a.conf"), Entry(name: "b.conf", kind: .empty), Entry(name: "c.conf"),
                    Entry(name: "d.conf", kind: .linkToNull),
                ], origin: .user),
        ])
        #expect(
            plan.files.map(\.path) == [
                "/etc/a.conf", "/home/a.conf", "/etc/b.conf", "/home/c.conf", "/etc/d.conf",
            ])
        #expect(plan.files.map(\.origin) == [.system, .user, .system, .user, .system])
        #expect(plan.hidden == [] && plan.masks == [])
    }

    @Test func otherNamesAreNoPolicy() {
        let names = ["a.conf~", ".a.conf", "README", "b.conf.dpkg-old", "conf", "c.CONF", "d.conf"]
        #expect(paths([Folder(path: "/etc", entries: names.map { Entry(name: $0) })]) == ["/etc/d.conf"])
        #expect(paths([]) == [])
    }
}
