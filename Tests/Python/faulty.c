/* Preloaded into the broker: a file named `read`, `write`, `sync`, `lock`, `clock` or `stall` in the folder $FAULTS
   turns on what its name says. Files other than the store's are read, written and synced as ever. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int asked(const char *fault, char *text, size_t size) {
    char path[PATH_MAX];
    const char *folder = getenv("FAULTS");
    if (folder == NULL) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t got = NEXT(read)(file, text, size - 1);
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

/* The file `clock` has the seconds by which the wall clock is off. Setting it has the effect on timers that setting the
   kernel's clock has: those of the wall clock fire when they read their time, and those that ask for it are cancelled. */
#define TIMERS_MAX 16
static struct { int descriptor, flags, cancelled; struct itimerspec wanted; } timers[TIMERS_MAX];
static int timer_count;
static pthread_mutex_t timers_lock = PTHREAD_MUTEX_INITIALIZER;

static long clock_offset(void) {
    char text[32];
    return asked("clock", text, sizeof text) ? atol(text) : 0;
}

static int arm(int index, struct itimerspec *old) {
    struct itimerspec value = timers[index].wanted;
    int is_set = value.it_value.tv_sec != 0 || value.it_value.tv_nsec != 0;
    if (is_set && timers[index].flags & TFD_TIMER_ABSTIME) {
        if (__builtin_sub_overflow(value.it_value.tv_sec, clock_offset(), &value.it_value.tv_sec))
            value.it_value.tv_sec = LONG_MAX;
        if (value.it_value.tv_sec < 0) value.it_value = (struct timespec){0, 1};
    }
    return NEXT(timerfd_settime)(timers[index].descriptor, timers[index].flags, &value, old);
}

static void *watch_clock(void *unused) {
    char events[4096];
    int notify = inotify_init1(IN_CLOEXEC);
    inotify_add_watch(notify, getenv("FAULTS"), IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
    long before = clock_offset();
    while (NEXT(read)(notify, events, sizeof events) > 0) {
        long offset = clock_offset();
        if (offset == before) continue;
        before = offset;
        pthread_mutex_lock(&timers_lock);
        for (int index = 0; index < timer_count; index++) {
            if (timers[index].flags & TFD_TIMER_CANCEL_ON_SET) {
                struct itimerspec now = {.it_value = {0, 1}};
                timers[index].cancelled = 1;
                NEXT(timerfd_settime)(timers[index].descriptor, 0, &now, NULL);
            } else {
                arm(index, NULL);
            }
        }
        pthread_mutex_unlock(&timers_lock);
    }
    return unused;
}

int timerfd_create(int clock, int flags) {
    int descriptor = NEXT(timerfd_create)(clock, flags);
    if (clock != CLOCK_REALTIME || descriptor < 0 || getenv("FAULTS") == NULL) return descriptor;
    pthread_mutex_lock(&timers_lock);
    int is_first = timer_count == 0;
    if (timer_count == TIMERS_MAX) abort();
    timers[timer_count++].descriptor = descriptor;
    pthread_mutex_unlock(&timers_lock);
    if (is_first) {
        pthread_t thread;
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &old);
        pthread_create(&thread, NULL, watch_clock, NULL);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    return descriptor;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old) {
    pthread_mutex_lock(&timers_lock);
    for (int index = 0; index < timer_count; index++) {
        if (timers[index].descriptor != descriptor) continue;
        timers[index].flags = flags;
        timers[index].wanted = *value;
        int result = arm(index, old);
        pthread_mutex_unlock(&timers_lock);
        return result;
    }
    pthread_mutex_unlock(&timers_lock);
    return NEXT(timerfd_settime)(descriptor, flags, value, old);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    ssize_t result = NEXT(read)(descriptor, bytes, count);
    pthread_mutex_lock(&timers_lock);
    for (int index = 0; index < timer_count; index++) {
        if (timers[index].descriptor != descriptor || !timers[index].cancelled) continue;
        timers[index].cancelled = 0;
        errno = ECANCELED;
        result = -1;
    }
    pthread_mutex_unlock(&timers_lock);
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = NEXT(clock_gettime)(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_offset();
    return result;
}
