"""The programs of the tests and what the policy gives them."""

import os

ONE, TWO, FOREIGN, STRICT = "org.test.one", "org.test.two", "org.test.foreign", "org.test.strict"

# Each is a copy of the interpreter; only `nobody` is in no policy.
IDENTITIES = ("mail", "calendar", "helper", "stranger", "weak", "admin", "nobody")

POLICY = """[Application org.test.Mail]
Executable={folder}/mail
AccessGroups={one} {two}

[Application org.test.Calendar]
Executable={folder}/calendar
AccessGroups={one}

[Application org.test.Helper]
Executable={folder}/helper
AccessGroups={one}
Role=background

[Application org.test.Stranger]
Executable={folder}/stranger
AccessGroups={foreign}

[Application org.test.Weak]
Executable={folder}/weak
AccessGroups={strict}

[AccessGroup {one}]
RequireTrust=user

[AccessGroup {two}]
RequireTrust=user

[AccessGroup {foreign}]
RequireTrust=user

[Manager]
Executable={folder}/admin
"""


def write_policy(policies, executables):
    """One file; test folders are nobody's system folders, so the groups say RequireTrust=user."""
    with open(os.path.join(policies, "50-test.conf"), "w") as file:
        file.write(POLICY.format(folder=executables, one=ONE, two=TWO, foreign=FOREIGN, strict=STRICT))
