/* bench start: from spawning the daemon to its first answers. bench wait: until a daemon answers. */
#include "bench.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANAGER "org.chatelaine.Broker1.Manager"
#define START_LIMIT_NS (60ull * 1000000000ull)

static int on_owner(sd_bus_message *m, void *owned, sd_bus_error *)
{
    const char *name, *before, *after;
    must(sd_bus_message_read(m, "sss", &name, &before, &after), "NameOwnerChanged");
    *(bool *)owned = *after != 0;
    return 0;
}

static bool has_owner(sd_bus *bus, const char *service)
{
    sd_bus_message *reply = NULL;
    int has = 0;
    must(sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                            "NameHasOwner", NULL, &reply, "s", service), "NameHasOwner");
    must(sd_bus_message_read(reply, "b", &has), "NameHasOwner");
    sd_bus_message_unref(reply);
    return has;
}

/* A pidfd is readable once its process has ended, also before somebody has waited for it. */
static void check_daemon_lives(int daemon)
{
    struct pollfd p = {.fd = daemon, .events = POLLIN};
    if (poll(&p, 1, 0) > 0)
        die("the service ended before it answered", 0, NULL);
}

/* Waits by the bus's signal, since asking again and again would take the processor from the daemon. */
static void wait_for_owner(sd_bus *bus, const bool *owned, pid_t pid)
{
    uint64_t limit = now_ns() + START_LIMIT_NS;
    int daemon = (int)syscall(SYS_pidfd_open, pid, 0);
    if (daemon < 0)
        die("the service's process", errno, NULL);
    while (!*owned) {
        check_daemon_lives(daemon);
        if (now_ns() > limit)
            die("nobody has owned the service's name for a minute", 0, NULL);
        int r = sd_bus_process(bus, NULL);
        must(r, "process");
        if (r == 0)
            must(sd_bus_wait(bus, 50000), "wait");
    }
    close(daemon);
}

static char *property(sd_bus *bus, const char *name)
{
    sd_bus_error e = SD_BUS_ERROR_NULL;
    char *value = NULL;
    int r = sd_bus_get_property_string(bus, broker.name, broker.path, MANAGER, name, &e, &value);
    if (r < 0)
        die(name, r, &e);
    return value;
}

/* Matches the one name alone: the signals of others would wake this process while the daemon starts. */
static void watch_owner(sd_bus *bus, const char *service, bool *owned)
{
    char rule[256];
    snprintf(rule, sizeof rule,
             "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'", service);
    must(sd_bus_add_match(bus, NULL, rule, on_owner, owned), "match");
}

static pid_t spawn(char **command, const char *log)
{
    pid_t pid = fork();
    must(pid, "fork");
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0)
        die(log, errno, NULL);
    execv(command[0], command);
    die(command[0], errno, NULL);
}

static void search_one(sd_bus *bus, uint64_t items)
{
    struct client c = {.bus = bus, .items = items, .random = now_ns() | 1};
    uint64_t item = client_pick(&c);
    sd_bus_message *m = call_new(bus, &broker, "Search");
    item_append_query(m, item);
    sd_bus_message *reply = call_send(bus, m, "Search");
    must(sd_bus_message_enter_container(reply, 'a', "a{sv}"), "Search: items");
    item_check_attributes(reply, item);
    sd_bus_message_unref(reply);
}

static void end_daemon(pid_t pid)
{
    int status;
    kill(pid, SIGTERM);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the daemon did not end in order on SIGTERM", 0, NULL);
}

static double ms_since(uint64_t start)
{
    return (double)(now_ns() - start) / 1e6;
}

int start_main(int argc, char **argv)
{
    static const struct option options[] = {{"items", 1, 0, 'i'}, {"log", 1, 0, 'l'}, {0, 0, 0, 0}};
    uint64_t items = 0;
    const char *log = "/dev/null";
    bool owned = false;
    for (int o; (o = getopt_long(argc, argv, "+", options, NULL)) >= 0;)
        switch (o) {
        case 'i': items = number_option(optarg, UINT32_MAX); break;
        case 'l': log = optarg; break;
        default: die("start: unknown option", 0, NULL);
        }
    if (!items || optind == argc)
        die("start: --items N -- DAEMON...", 0, NULL);
    sd_bus *bus = bus_connect();
    watch_owner(bus, broker.name, &owned);
    if (has_owner(bus, broker.name))
        die("a broker runs on this bus already", 0, NULL);
    uint64_t start = now_ns();
    pid_t pid = spawn(argv + optind, log);
    wait_for_owner(bus, &owned, pid);
    double name = ms_since(start);
    char *state = property(bus, "State");
    double answer = ms_since(start);
    search_one(bus, items);
    double search = ms_since(start);
    end_daemon(pid);
    printf("{\"name_ms\":%.2f,\"state_ms\":%.2f,\"search_ms\":%.2f,\"state\":\"%s\"}\n", name, answer,
           search, state);
    free(state);
    return 0;
}

/* Returns a connection to the service's bus, once that process, or another, owns its name. */
static sd_bus *await_owner(const struct service *service, const char *pid)
{
    bool owned = false;
    sd_bus *bus = service_connect(service);
    watch_owner(bus, service->name, &owned);
    owned = owned || has_owner(bus, service->name);
    wait_for_owner(bus, &owned, (pid_t)number_option(pid, INT32_MAX));
    return bus;
}

int owner_main(int argc, char **argv)
{
    if (argc != 3)
        die("owner: SERVICE PID", 0, NULL);
    const struct service *service = service_named(argv[1], true);
    if (!service || !service->address)
        die("owner: that service has no name on a bus", 0, NULL);
    await_owner(service, argv[2]);
    puts("{}");
    return 0;
}

int wait_main(int argc, char **argv)
{
    if (argc != 2)
        die("wait: PID", 0, NULL);
    sd_bus *bus = await_owner(&broker, argv[1]);
    char *state = property(bus, "State"), *version = property(bus, "Version");
    printf("{\"state\":\"%s\",\"version\":\"%s\"}\n", state, version);
    free(state);
    free(version);
    return 0;
}
