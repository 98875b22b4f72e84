"""The field's failures that this release has no part for, each with the release that brings it."""

from expect import Table

TABLE = Table()
absent = TABLE.not_here

absent("B036", "two Flatpak applications need a whole machine: the system tests play it there, by this name")
absent("B041", "no snapd here; how a Snap is told is held by tables (BrokerPeersTests)")
absent("B052", "no container is started here; in namespaces of its own a program has its unit at most (A04, A05)")
absent("B122", "many calls of one process are the client library's: its tests play them")
absent("B182", "a TPM needs a whole machine: the system tests play it there, by this name")
absent("B170 B171", "they need another keyring: import_keyring plays them, by these names")
absent("B153", "a bound of time: the bench measures the first answer after a start")
