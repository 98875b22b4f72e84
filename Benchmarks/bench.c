/* The bench client. One executable, since the broker knows its callers by their executable. */
#include "bench.h"
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "bench measure [options] LANE...     time lanes in alternating slices\n"
    "   LANE: SERVICE:OPERATION[@CLIENTS][+SERVICE:OPERATION]\n"
    "   SERVICE:OPERATION: broker:read, :begin, :search, :store, echo:the same, sqlite:commit\n"
    "   secrets:OPERATION, of org.freedesktop.secrets, gnome:the same of gnome-keyring, echo:the same:\n"
    "   get-secret, search-items, miss, look-up, visit\n"
    "   the part after + runs in one more client during that lane's slices\n"
    "   --items N  --rounds R  --seconds S (a slice)  --warm N  --folder DIR (of SQLite's file)\n"
    "   --broker-pid PID  --echo-pid PID  --gnome-pid PID (to charge CPU time to)\n"
    "bench fill [--secrets] [--from N] --items N [--connections C] [--window W] [--limit SECONDS]\n"
    "   --secrets: by CreateItem of org.freedesktop.secrets\n"
    "bench lock SERVICE                                lock and unlock the collection; count the signals\n"
    "bench signals [--rounds R] [--subscribers S] [--broker-pid PID --echo-pid PID] LISTENER...\n"
    "   time changes until the last subscriber has heard of them; the subscribers live in copies of this\n"
    "   program, which are started as LISTENER listen CONNECTIONS\n"
    "bench start --items N [--log FILE] -- DAEMON...   time from spawn to the first answers, then end it\n"
    "bench wait PID                                    until that broker answers; prints state and version\n"
    "bench owner SERVICE PID                           until that service's name has an owner\n"
    "bench versions\n";

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (!pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void die(const char *what, int error, const sd_bus_error *e)
{
    if (e && e->name)
        fprintf(stderr, "bench: %s: %s: %s\n", what, e->name, e->message ? e->message : "");
    else if (error)
        fprintf(stderr, "bench: %s: %s\n", what, strerror(abs(error)));
    else
        fprintf(stderr, "bench: %s\n", what);
    fflush(stderr);
    _Exit(1);
}

void must(int r, const char *what)
{
    if (r < 0)
        die(what, r, NULL);
}

uint64_t number_option(const char *text, uint64_t max)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || end == text || value > max)
        die("an option's number is malformed or too large", 0, NULL);
    return value;
}

void *shared_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        die("no shared memory", errno, NULL);
    return p;
}

static void on_child(int)
{
    int status;
    while (waitpid(-1, &status, WNOHANG) > 0)
        if (status)
            _exit(1);
}

void end_with_children(void)
{
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigaction(SIGCHLD, &action, NULL);
}

static int versions_main(void)
{
    printf("{\"libsodium\":\"%s\",\"sqlite\":\"%s\",\"compiler\":\"%s\"}\n", sodium_version_string(),
           sqlite3_libversion(), __VERSION__);
    return 0;
}

int main(int argc, char **argv)
{
    if (sodium_init() < 0)
        die("libsodium does not start", 0, NULL);
    const char *command = argc > 1 ? argv[1] : "";
    if (!strcmp(command, "measure"))
        return measure_main(argc - 1, argv + 1);
    if (!strcmp(command, "fill"))
        return fill_main(argc - 1, argv + 1);
    if (!strcmp(command, "signals"))
        return signals_main(argc - 1, argv + 1);
    if (!strcmp(command, "listen"))
        return listen_main(argc - 1, argv + 1);
    if (!strcmp(command, "start"))
        return start_main(argc - 1, argv + 1);
    if (!strcmp(command, "wait"))
        return wait_main(argc - 1, argv + 1);
    if (!strcmp(command, "owner"))
        return owner_main(argc - 1, argv + 1);
    if (!strcmp(command, "lock"))
        return lock_main(argc - 1, argv + 1);
    if (!strcmp(command, "versions"))
        return versions_main();
    fputs(usage, stderr);
    return 2;
}
