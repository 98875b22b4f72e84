"""Stands in for logind on a private bus: says what it is told to say, and when.

fake_logind.py ADDRESS

Takes one command a line, a JSON list of a name and its arguments, and answers each with a line of JSON: what came of
it, and what was waited for in vain.
"""

import json
import os
import select
import sys
import time

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import DBusNameFlags, message_bus
from jeepney.io.blocking import open_dbus_connection

NAME, PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
MANAGER, SESSION = NAME + ".Manager", NAME + ".Session"
PROPERTIES = "org.freedesktop.DBus.Properties"
WAIT_SECONDS = 30


class Logind:
    def __init__(self, address):
        self.connection = open_dbus_connection(address, enable_fds=True)
        self.sessions, self.inhibitors, self.asked, self.taken = {}, [], set(), 0
        self.sleeping = False

    def run(self):
        print("ready", flush=True)
        while True:
            select.select([sys.stdin, self.connection.sock], [], [])
            self.serve()
            if select.select([sys.stdin], [], [], 0)[0]:
                line = sys.stdin.readline()
                if not line:
                    return
                print(json.dumps(self.obey(*json.loads(line))), flush=True)

    def obey(self, name, *arguments):
        try:
            return getattr(self, name)(*arguments), None
        except TimeoutError as missed:
            return None, str(missed)

    def serve_until(self, condition, what, seconds=WAIT_SECONDS):
        """Serves until it holds. What is asked meanwhile is answered; that a pipe was closed is no message, so it looks again."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"logind waits in vain: {what}")
            self.serve(0.02)

    def serve(self, timeout=0):
        """Answers what has come, or what comes within that time."""
        try:
            while True:
                message = self.connection.receive(timeout=timeout)
                if message.header.message_type is MessageType.method_call:
                    self.answer(message)
                timeout = 0
        except TimeoutError:
            pass

    def answer(self, message):
        member = message.header.fields[HeaderFields.member]
        path = message.header.fields[HeaderFields.path]
        if member == "ListSessions":
            listed = [(one["Id"], one["User"], "", one["Seat"], path_of(one["Id"])) for one in self.sessions.values()]
            reply = new_method_return(message, "a(susso)", (listed,))
        elif member == "GetAll":
            self.asked.add(path)
            reply = self.facts(message, path)
        elif member == "Get":
            reply = new_method_return(message, "v", (("b", self.sleeping),))
        elif member == "Inhibit" and message.body[0] == "sleep" and message.body[3] == "delay":
            mine, theirs = os.pipe()
            self.inhibitors.append(mine)
            self.taken += 1
            self.connection.send(new_method_return(message, "h", (theirs,)))
            os.close(theirs)
            return
        else:
            reply = new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")
        self.connection.send(reply)

    def facts(self, message, path):
        for one in self.sessions.values():
            if path_of(one["Id"]) == path:
                facts = {
                    "User": ("(uo)", (one["User"], PATH)),
                    "Seat": ("(so)", (one["Seat"], PATH)),
                    "Class": ("s", one["Class"]),
                    "State": ("s", one["State"]),
                    "LockedHint": ("b", one["LockedHint"]),
                    "Active": ("b", one["Active"]),
                    "Timestamp": ("t", 1),
                }
                return new_method_return(message, "a{sv}", (facts,))
        return new_error(message, "org.freedesktop.DBus.Error.UnknownObject")

    def emit(self, path, interface, member, signature, *body):
        address = DBusAddress(path, interface=interface)
        self.connection.send(new_signal(address, member, signature, body))

    # Commands

    def own(self):
        """From here on it is there."""
        self.connection.send_and_get_reply(message_bus.RequestName(NAME, DBusNameFlags.do_not_queue))

    def add(self, number, user, tell=True, **facts):
        defaults = {"Seat": "", "Class": "user", "State": "active", "LockedHint": False, "Active": True}
        self.sessions[number] = defaults | {"Id": number, "User": user} | facts
        if tell:
            self.emit(PATH, MANAGER, "SessionNew", "so", number, path_of(number))

    def add_with(self, number, user, tell, facts):
        self.add(number, user, tell, **facts)

    def listed(self):
        return list(self.sessions)

    def remove(self, number, tell=True):
        del self.sessions[number]
        if tell:
            self.emit(PATH, MANAGER, "SessionRemoved", "so", number, path_of(number))

    def signal(self, number, member):
        self.emit(path_of(number), SESSION, member, "")

    def change(self, number, facts, tell=True):
        self.sessions[number].update(facts)
        if tell:
            changed = {name: ("b", value) for name, value in facts.items()}
            self.emit(path_of(number), PROPERTIES, "PropertiesChanged", "sa{sv}as", SESSION, changed, [])

    def invalidate(self, number, facts):
        """Says that something has changed, and not what to."""
        self.sessions[number].update(facts)
        self.emit(path_of(number), PROPERTIES, "PropertiesChanged", "sa{sv}as", SESSION, {}, list(facts))

    def sleep(self, begins):
        self.sleeping = begins
        self.emit(PATH, MANAGER, "PrepareForSleep", "b", begins)

    def barrier(self):
        """Until the broker has read a session that is new: it has read all signals before then."""
        number = f"barrier{len(self.asked)}"
        self.add(number, 65_534, Class="background")
        try:
            self.serve_until(lambda: path_of(number) in self.asked, "a new session is asked about")
        finally:
            self.remove(number)

    def held(self):
        """How many inhibitors are held now, and how many were ever taken."""
        return [sum(not is_closed(one) for one in self.inhibitors), self.taken]

    def await_released(self):
        self.serve_until(lambda: all(is_closed(one) for one in self.inhibitors), "the sleep is held up no more")

    def await_taken(self, count):
        self.serve_until(lambda: self.taken >= count, f"the sleep is held up for the {count}. time")


def is_closed(descriptor):
    poll = select.poll()
    poll.register(descriptor, select.POLLHUP)
    return bool(poll.poll(0))


def path_of(number):
    return f"{PATH}/session/{number}"


if __name__ == "__main__":
    Logind(sys.argv[1]).run()
