"""A life with every kind of call that carries a secret, of values that occur nowhere else."""

import secrets

from expect import equal, generic, internet, refused, same_secret


class Marks:
    """Values that occur nowhere else: each is told apart by 24 random bytes in the middle of it."""

    def __init__(self):
        self.secrets, self.attributes = {}, {}

    def secret(self, name):
        return self.secrets.setdefault(name, f"{name}<".encode() + secrets.token_bytes(24) + b">")

    def text(self, name):
        return self.attributes.setdefault(name, f"{name}-{secrets.token_hex(12)}".encode()).decode()

    @staticmethod
    def inner(values):
        """The random middles alone, so that a value whose ends were overwritten is found as well."""
        return {name: value.split(b"<", 1)[-1].rstrip(b">")[-24:] for name, value in values.items()}


def job(w, marks, look=lambda what: None):
    """A life with every kind of call that carries a secret; `look` is called after each step."""
    foreground = generic(
        Service=marks.text("service"), Account=marks.text("account"), Label=marks.text("label")
    )
    background = foreground | {"Account": marks.text("helper"), "Accessible": "after-first-unlock"}
    other = internet(Server=marks.text("server"), Account=marks.text("user"), Path=marks.text("path"))
    w.set_passcode(marks.secret("first-passcode"))
    w.mail.add(foreground, marks.secret("foreground"))
    w.mail.add(background, marks.secret("background"))
    w.mail.store(other | {"Comment": marks.text("comment")}, marks.secret("internet"))
    look("added")
    same_secret(w.calendar.read(background).secret, marks.secret("background"))
    equal(len(w.calendar.read_all({"Class": "generic-password"})), 2)
    w.calendar.update(background, {"Description": marks.text("description")}, marks.secret("renewed"))
    w.mail.store(other, marks.secret("stored-over"))
    same_secret(w.mail.read(other).secret, marks.secret("stored-over"))
    same_secret(w.mail.read(foreground).secret, marks.secret("foreground"))
    look("read and renewed")
    w.set_passcode(marks.secret("second-passcode"))
    w.lock()
    refused("AuthFailed", w.user.unlock, marks.secret("wrong-passcode"))
    refused("InteractionNotAllowed", w.mail.read, foreground)
    same_secret(w.helper.read(background).secret, marks.secret("renewed"))
    look("locked")
    w.unlock()
    w.restart()
    w.unlock()
    equal(w.mail.delete(other), 1)
    refused("DuplicateItem", w.mail.add, foreground, marks.secret("refused"))
    look("restarted, deleted")
    return foreground, background
