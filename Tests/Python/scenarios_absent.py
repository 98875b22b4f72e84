"""The scenarios that cannot be met here, each with the ruling or the reason."""

from expect import Table

TABLE = Table()
absent = TABLE.not_here

absent("S016 S019", "there are no return flags: what is returned follows from the method (section 0)")
absent("S030", "every item has a secret, maybe an empty one (K20); S031 plays that")
absent(
    "S069 S070 S078 S079 S080 S081 S082",
    "certificates, keys and identities are NoSuchClass until they are built",
)
absent("S072", "there never were references of an older form")
absent("S087 S088", "no associated identifiers; private groups need file trust, which no test folder has")
absent("S092", "no token group (section 0)")
absent("S093", "no policy grants every group; `ListGroups` is the administrator's view")
absent("S096", "no app clips (section 0)")
absent("S097", "two users need a broker for both: K02 and K03 play it")
absent(
    "S114", "class keys are unwrapped before the state changes; there is no unlock in the middle of a call"
)
absent("S119 S132 S133 S135", "they need a person: PA26, PA27, PA21 and PE04 of presence play them")
absent("S126 S128", "access controls are built from flags alone, none of which names single operations")
absent("S142", "a class's metadata key has no row of its own that could be lost alone")
absent("S151 S152", "tombstones are internal: no query shows them (section 0)")
absent("S155", "no sync engine, so nothing merges two versions (section 0)")
absent("S156 S157 S158 S159 S160 S161 S162", "the interface has no Backup and Restore so far")
absent("S163", "no call deletes everything, and no items are bound to the system")
