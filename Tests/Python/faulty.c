/* Preloaded into the broker: a file named `read`, `write`, `sync`, `lock`, `clock` or `stall` in the folder $FAULTS
   turns on what its name says. Files other than the store's are read, written and synced as ever. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static int asked(const char *fault, char *text, size_t size) {
    char path[PATH_MAX];
    const char *folder = getenv("FAULTS");
    if (folder == NULL) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t got = read(file, text, size - 1);
    text[got < 0 ? 0 : got] = 0;
    close(file);
    return 1;
}

static int is_asked(const char *fault) {
    char text[2];
    return asked(fault, text, sizeof text);
}

static int is_store(int descriptor) {
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return strstr(target, "keychain.db") != NULL;
}

/* The file `stall` has a part of a path: such a file is synced when somebody has written to the pipe `go`. */
static void stall(int descriptor) {
    char link[64], target[PATH_MAX], text[PATH_MAX], path[PATH_MAX];
    if (!asked("stall", text, sizeof text)) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
    if (strstr(target, text) == NULL) return;
    snprintf(path, sizeof path, "%s/go", getenv("FAULTS"));
    int pipe = open(path, O_RDONLY | O_CLOEXEC);
    if (pipe >= 0) close(pipe);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define REFUSE(fault, descriptor, code) \
    if (is_asked(fault) && is_store(descriptor)) { errno = code; return -1; }

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    REFUSE("read", descriptor, EIO)
    return NEXT(pread)(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    REFUSE("read", descriptor, EIO)
    return NEXT(pread64)(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    REFUSE("write", descriptor, EIO)
    return NEXT(pwrite)(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    REFUSE("write", descriptor, EIO)
    return NEXT(pwrite64)(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
    stall(descriptor);
    REFUSE("sync", descriptor, EIO)
    return NEXT(fdatasync)(descriptor);
}

int fsync(int descriptor) {
    stall(descriptor);
    REFUSE("sync", descriptor, EIO)
    return NEXT(fsync)(descriptor);
}

int flock(int descriptor, int operation) {
    if (is_asked("lock")) {
        errno = ENOLCK;
        return -1;
    }
    return NEXT(flock)(descriptor, operation);
}

/* The file `clock` has the seconds by which the wall clock is off. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    char text[32];
    int result = NEXT(clock_gettime)(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && asked("clock", text, sizeof text))
        now->tv_sec += atol(text);
    return result;
}
