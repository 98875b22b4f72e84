/* bench signals: from a change to the last of many subscribers. Rounds of the echo and of the broker alternate; the
 * subscribers are the same connections, and stay. A burst is one call that changes many items, which makes the commit
 * small beside the telling; single changes show how long the last subscriber waits. */
#define _GNU_SOURCE
#include "bench.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A single change takes a fiftieth of a burst's time. */
#define SINGLES_OF_A_ROUND 5u

struct change {
    uint64_t elapsed_ns, cpu_ns;
};
struct kind {
    const char *word;
    uint32_t signals; /* to each subscriber */
    unsigned of_a_round, taken;
    struct change changes[2][SINGLES_OF_A_ROUND * ROUNDS_MAX]; /* the echo's, the broker's */
};
static struct kind kinds[] = {{.word = "burst", .signals = ITEMS_OF_A_SERVICE, .of_a_round = 1},
                              {.word = "single", .signals = 1, .of_a_round = SINGLES_OF_A_ROUND}};
#define KINDS (sizeof kinds / sizeof *kinds)

static struct {
    unsigned rounds, subscribers;
    pid_t pids[2]; /* the echo, the broker */
} plan = {.rounds = 3, .subscribers = 1000};

static struct {
    int in, out;
} listeners[LISTENERS_MAX];
static unsigned listener_count;

static void run_listener(char *program, unsigned subscribers, const int *in, const int *out)
{
    char count[16];
    snprintf(count, sizeof count, "%u", subscribers);
    char *arguments[] = {program, "listen", count, NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
        die("dup2", errno, NULL);
    execv(program, arguments);
    die(program, errno, NULL);
}

static void start_listener(char *program, unsigned subscribers)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        die("pipe", errno, NULL);
    pid_t pid = fork();
    must(pid, "fork");
    if (pid == 0)
        run_listener(program, subscribers, in, out);
    close(in[0]);
    close(out[1]);
    listeners[listener_count].in = in[1];
    listeners[listener_count++].out = out[0];
}

/* Waits until each listener has heard all; returns when the last of them had. */
static uint64_t wait_for_all(uint64_t wanted)
{
    uint64_t last = 0, sum = 0;
    for (unsigned k = 0; k < listener_count; k++) {
        struct heard heard;
        if (read(listeners[k].out, &heard, sizeof heard) != sizeof heard)
            die("signals: a listener has ended", 0, NULL);
        last = heard.last_ns > last ? heard.last_ns : last;
        sum += heard.signals;
    }
    if (sum != wanted)
        die("signals: another number of signals than was sent", 0, NULL);
    return last;
}

static sd_bus_message *change_call(sd_bus *bus, bool from_broker, uint32_t signals)
{
    sd_bus_message *m = call_new(bus, from_broker ? &broker : &echo, from_broker ? "Update" : "Change");
    if (!from_broker) {
        must(sd_bus_message_append(m, "u", signals), "append");
        return m;
    }
    if (signals == 1)
        item_append_query(m, 0);
    else
        item_append_service_query(m);
    item_append_change(m);
    must(sd_bus_message_append(m, "a(oayay)", 0), "append");
    return m;
}

static struct change take_change(sd_bus *bus, bool from_broker, uint32_t signals)
{
    struct awaited awaited = {.from_broker = from_broker, .signals = signals};
    uint32_t changed;
    for (unsigned k = 0; k < listener_count; k++)
        if (write(listeners[k].in, &awaited, sizeof awaited) != sizeof awaited)
            die("signals: a listener has ended", 0, NULL);
    uint64_t cpu = cpu_ns(plan.pids[from_broker]), start = now_ns();
    sd_bus_message *reply = call_send(bus, change_call(bus, from_broker, signals), "Update");
    uint64_t last = wait_for_all((uint64_t)signals * plan.subscribers);
    must(sd_bus_message_read(reply, "u", &changed), "Update: reply");
    sd_bus_message_unref(reply);
    if (changed != signals)
        die("Update: another number of items than was asked for", 0, NULL);
    return (struct change){.elapsed_ns = last - start, .cpu_ns = cpu_ns(plan.pids[from_broker]) - cpu};
}

/* Odd rounds begin with the broker. */
static void take_round(sd_bus *bus, struct kind *kind, unsigned round)
{
    for (unsigned k = 0; k < kind->of_a_round; k++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            bool from_broker = (turn + round + k) % 2;
            kind->changes[from_broker][kind->taken] = take_change(bus, from_broker, kind->signals);
        }
        kind->taken++;
    }
}

static void print_kind(const struct kind *kind, bool from_broker)
{
    double all = (double)kind->signals * plan.subscribers;
    printf("{\"lane\":\"%s:%s\",\"changes\":%u,\"rounds\":[", from_broker ? "broker" : "echo", kind->word,
           kind->signals);
    for (unsigned k = 0; k < kind->taken; k++) {
        const struct change *c = &kind->changes[from_broker][k];
        printf("%s{\"ms\":%.3f,\"rate\":%.1f,\"cpu_us\":%.3f}", k ? "," : "", (double)c->elapsed_ns / 1e6,
               all * 1e9 / (double)c->elapsed_ns, (double)c->cpu_ns / 1000 / all);
    }
    printf("]}");
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", 1, 0, 'r'}, {"subscribers", 1, 0, 's'},
                                            {"broker-pid", 1, 0, 'b'}, {"echo-pid", 1, 0, 'e'}, {0, 0, 0, 0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) >= 0;)
        switch (o) {
        case 'r': plan.rounds = (unsigned)number_option(optarg, ROUNDS_MAX); break;
        case 's': plan.subscribers = (unsigned)number_option(optarg, 100000); break;
        case 'b': plan.pids[1] = (pid_t)number_option(optarg, INT32_MAX); break;
        case 'e': plan.pids[0] = (pid_t)number_option(optarg, INT32_MAX); break;
        default: die("signals: unknown option", 0, NULL);
        }
    if (argc - optind < 1 || argc - optind > (int)LISTENERS_MAX || !plan.rounds || !plan.subscribers)
        die("signals: between 1 and 32 listeners, one round and one subscriber at least", 0, NULL);
}

int signals_main(int argc, char **argv)
{
    read_options(argc, argv);
    sd_bus *bus = bus_connect();
    sd_bus_message_unref(call_send(bus, call_new(bus, &echo, "ForgetSubscribers"), "ForgetSubscribers"));
    end_with_children();
    unsigned programs = (unsigned)(argc - optind);
    for (unsigned k = 0; k < programs; k++)
        start_listener(argv[optind + (int)k], plan.subscribers / programs + (k < plan.subscribers % programs));
    wait_for_all(0);
    for (unsigned k = 0; k < 2 * SINGLES_OF_A_ROUND; k++)
        take_change(bus, k % 2, 1);
    for (unsigned round = 0; round < plan.rounds; round++)
        for (unsigned k = 0; k < KINDS; k++)
            take_round(bus, &kinds[k], round);
    printf("{\"subscribers\":%u,\"lanes\":[", plan.subscribers);
    for (unsigned k = 0; k < 2 * KINDS; k++) {
        printf("%s", k ? "," : "");
        print_kind(&kinds[k / 2], k % 2);
    }
    printf("]}\n");
    return 0;
}
