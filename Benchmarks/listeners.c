/* bench listen: a process of subscribers, each a connection of its own. Standard input says what comes next, standard
 * output when it has come (struct awaited and struct heard). A signal too few, too many or out of turn ends it. */
#include "bench.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024u
#define SILENCE_MAX_MS 120000

struct listener {
    sd_bus *bus;
    uint64_t sequence, revision, echo_sequence, echo_revision;
};
static struct listener listeners[CONNECTIONS_MAX];
static unsigned connections;
static struct awaited awaited;
static struct heard heard;
static int poller;

static void check_signal(sd_bus_message *m, uint64_t *sequence, uint64_t *revision)
{
    const char *group, *reference, *change;
    uint64_t is_sequence, is_revision;
    must(sd_bus_message_read(m, "tssst", &is_sequence, &group, &reference, &change, &is_revision), "ItemChanged");
    if (is_sequence != *sequence + 1)
        die("a signal was lost: the sequence has a gap", 0, NULL);
    if (is_revision <= *revision || strcmp(group, GROUP) != 0 || strcmp(change, "updated") != 0)
        die("a signal is of another change", 0, NULL);
    *sequence = is_sequence;
    *revision = is_revision;
    heard.signals++;
}

static int on_message(sd_bus_message *m, void *user, sd_bus_error *)
{
    struct listener *l = user;
    bool from_broker = sd_bus_message_is_signal(m, broker.subscriptions, "ItemChanged") > 0;
    if (!from_broker && sd_bus_message_is_signal(m, echo.subscriptions, "ItemChanged") <= 0)
        return 0;
    if (!awaited.signals || from_broker != (awaited.from_broker != 0))
        die("a signal came that nothing had caused", 0, NULL);
    if (from_broker)
        check_signal(m, &l->sequence, &l->revision);
    else
        check_signal(m, &l->echo_sequence, &l->echo_revision);
    return 1;
}

static void read_all(struct listener *l)
{
    int r;
    while ((r = sd_bus_process(l->bus, NULL)) > 0)
        ;
    must(r, "listen: process");
}

static void subscribe(struct listener *l)
{
    sd_bus_message *m = call_on(l->bus, &broker, broker.subscriptions, "Subscribe");
    must(sd_bus_message_append(m, "as", 1, GROUP), "append");
    sd_bus_message *reply = call_send(l->bus, m, "Subscribe");
    must(sd_bus_message_skip(reply, "sa(st)"), "Subscribe: reply");
    must(sd_bus_message_read(reply, "t", &l->sequence), "Subscribe: sequence");
    sd_bus_message_unref(reply);
    sd_bus_message_unref(call_send(l->bus, call_new(l->bus, &echo, "Subscribe"), "Subscribe"));
}

static void start_listener(struct listener *l)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    l->bus = bus_connect();
    must(sd_bus_add_filter(l->bus, NULL, on_message, l), "filter");
    subscribe(l);
    read_all(l);
    if (epoll_ctl(poller, EPOLL_CTL_ADD, sd_bus_get_fd(l->bus), &event) < 0)
        die("epoll", errno, NULL);
}

/* Not in sd-event, which would ask each connection before each turn what it waits for. */
static void read_until_heard(void)
{
    struct epoll_event events[64];
    while (heard.signals < (uint64_t)connections * awaited.signals) {
        int count = epoll_wait(poller, events, sizeof events / sizeof *events, SILENCE_MAX_MS);
        if (count < 0 && errno != EINTR)
            die("epoll", errno, NULL);
        if (count == 0)
            die("signals are missing", 0, NULL);
        for (int k = 0; k < count; k++)
            read_all(events[k].data.ptr);
    }
    heard.last_ns = now_ns();
}

/* With as many signals in all, and none out of turn, one connection has too few only if another has too many. */
static void check_shares(void)
{
    static uint64_t told[2];
    told[awaited.from_broker] += awaited.signals;
    for (unsigned k = 0; k < connections; k++) {
        uint64_t sequence = awaited.from_broker ? listeners[k].sequence : listeners[k].echo_sequence;
        if (sequence != told[awaited.from_broker])
            die("a subscriber has had another's signal", 0, NULL);
    }
}

static void say_heard(void)
{
    if (write(STDOUT_FILENO, &heard, sizeof heard) != sizeof heard)
        die("listen: standard output", errno, NULL);
    awaited.signals = 0;
    heard.signals = 0;
}

int listen_main(int argc, char **argv)
{
    if (argc != 2)
        die("listen: CONNECTIONS", 0, NULL);
    connections = (unsigned)number_option(argv[1], CONNECTIONS_MAX);
    poller = epoll_create1(EPOLL_CLOEXEC);
    must(poller < 0 ? -errno : 0, "epoll");
    for (unsigned k = 0; k < connections; k++)
        start_listener(&listeners[k]);
    say_heard();
    while (read(STDIN_FILENO, &awaited, sizeof awaited) == sizeof awaited) {
        read_until_heard();
        check_shares();
        say_heard();
    }
    return 0;
}
