"""A bus of a test's own, beside the world's."""

import os
import select
import subprocess

from harness import BUS_CONFIGURATION, START_SECONDS


class PrivateBus:
    """`with PrivateBus(folder, address) as bus:` a bus at that path, with nobody on it, gone at the end of the block."""

    def __init__(self, folder, address):
        self.folder, self.address, self.path = folder, address, address.partition("=")[2]

    def __enter__(self):
        configuration = self.path + ".conf"
        with open(configuration, "w") as file:
            services = os.path.join(self.folder, "no-services")
            file.write(BUS_CONFIGURATION.format(kind="session", path=self.path, services=services, include=""))
        self.process = subprocess.Popen(
            ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile", "--print-address=1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        ready = select.select([self.process.stdout], [], [], START_SECONDS)[0]
        if not ready or not self.process.stdout.readline():
            self.__exit__()
            raise AssertionError("the bus does not start")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if os.path.exists(self.path):
            os.unlink(self.path)
