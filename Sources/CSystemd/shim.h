#pragma once
#include <errno.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

// Swift imports the symbol as a constant and cannot take its address, which sd-bus needs to see.
static inline const unsigned *shim_vtable_format(void) {
    return &sd_bus_object_vtable_format;
}

// The Glibc module is built without _GNU_SOURCE, which hides this declaration.
int pthread_setname_np(unsigned long thread, const char *name);

// prctl is variadic, which Swift does not import.
#include <sys/prctl.h>
static inline int shim_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int shim_end_with_parent(int number) { return prctl(PR_SET_PDEATHSIG, number, 0, 0, 0); }

// From Linux 6.5 on; the C library's headers of Debian 12 have no name for it.
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#define SHIM_SO_PEERPIDFD 77
