"""A program that lets a user log in, by real PAM: FOLDER USER PASSWORD ..., each password as hexadecimal.

Prints for each how long it took; ends with 1 where PAM says no.
"""

import ctypes
import sys
import time

PAM = ctypes.CDLL("libpam.so.0")
LIBC = ctypes.CDLL(None)
LIBC.calloc.restype = LIBC.malloc.restype = ctypes.c_void_p


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


CONVERSATION = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(Message)),
    ctypes.POINTER(ctypes.POINTER(Response)),
    ctypes.c_void_p,
)


class Conversation(ctypes.Structure):
    _fields_ = [("function", CONVERSATION), ("data", ctypes.c_void_p)]


def main(folder, user, *passwords):
    answer = b""

    def converse(count, _messages, responses, _data):
        filled = ctypes.cast(LIBC.calloc(count, ctypes.sizeof(Response)), ctypes.POINTER(Response))
        for number in range(count):
            filled[number].text = LIBC.malloc(len(answer) + 1)
            ctypes.memmove(filled[number].text, answer + b"\0", len(answer) + 1)
        responses[0] = filled
        return 0

    conversation = Conversation(CONVERSATION(converse), None)
    for password in passwords:
        answer, handle = bytes.fromhex(password), ctypes.c_void_p()
        code = PAM.pam_start_confdir(
            b"stage", user.encode(), ctypes.byref(conversation), folder.encode(), ctypes.byref(handle)
        )
        begun = time.monotonic()
        code = code or PAM.pam_authenticate(handle, 0)
        print(f"{time.monotonic() - begun:.3f}", flush=True)
        PAM.pam_end(handle, code)
        if code:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
