/* bench measure: clients are processes; all of them take the same slices of the same lanes, one after the
 * other, so that other load on the machine hits every lane alike. Odd rounds go backwards. */
#include "bench.h"
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FIRST_NEW_ITEM 10000000u
#define NEW_ITEMS_PER_CLIENT 10000u

static struct {
    uint64_t items;
    unsigned rounds, warm, clients, lane_count;
    uint64_t slice_ns;
    const char *folder;
    pid_t broker_pid, echo_pid, gnome_pid;
    struct lane lanes[LANES_MAX];
} plan = {.items = 1, .rounds = 5, .warm = 20, .slice_ns = 500000000u, .folder = "."};

static pthread_barrier_t *barrier;
static struct record *records; /* [lane][client], the beside client last */
static struct slice *slices;   /* [lane][round] */

static struct record *record_of(unsigned lane, unsigned client)
{
    return &records[(size_t)lane * (plan.clients + 1) + client];
}

static struct slice *slice_of(unsigned lane, unsigned round)
{
    return &slices[lane * ROUNDS_MAX + round];
}

static unsigned lane_at(unsigned round, unsigned position)
{
    return round % 2 ? plan.lane_count - 1 - position : position;
}

/* What this client does in that lane; no operation: nothing. */
static struct action action_of(const struct lane *lane, unsigned client)
{
    struct action none = {0};
    if (client == plan.clients)
        return lane->beside;
    return client < lane->clients ? lane->action : none;
}

static bool plan_uses(const struct service *service)
{
    for (unsigned l = 0; l < plan.lane_count; l++)
        for (unsigned c = 0; c <= plan.clients; c++) {
            struct action a = action_of(&plan.lanes[l], c);
            if (a.operation && a.service == service)
                return true;
        }
    return false;
}

static void open_fronts(struct client *c)
{
    static const struct service *const fronts[] = {&secrets, &gnome, &secrets_echo};
    for (size_t k = 0; k < sizeof fronts / sizeof *fronts; k++)
        if (plan_uses(fronts[k]))
            front_open(client_front(c, fronts[k]), fronts[k]);
}

static void client_start(struct client *c, unsigned number)
{
    c->items = plan.items;
    c->random = 0x9e3779b97f4a7c15u ^ (number + 1) * 0x100000001b3u;
    c->first_new = FIRST_NEW_ITEM + (uint64_t)number * NEW_ITEMS_PER_CLIENT;
    c->bus = bus_connect();
    if (plan_uses(&broker))
        session_open(&c->broker_session, c->bus, &broker);
    if (plan_uses(&direct) || plan_uses(&plain)) {
        c->direct_bus = direct_connect();
        session_open(&c->direct_session, c->direct_bus, &direct);
        session_open(&c->plain_session, c->direct_bus, &plain);
    }
    session_open(&c->echo_session, c->bus, &echo);
    open_fronts(c);
    for (unsigned l = 0; l < plan.lane_count; l++) {
        struct action a = action_of(&plan.lanes[l], number);
        if (a.operation && !a.service && !c->rows)
            c->rows = rows_open(plan.folder);
        for (unsigned k = 0; a.operation && k < plan.warm; k++)
            a.operation->run(c, a.service);
    }
}

static void take_slice(struct client *c, struct action a, struct record *record, unsigned round)
{
    uint64_t end = now_ns() + plan.slice_ns, samples = record->mark[round];
    do {
        uint64_t elapsed = a.operation->run(c, a.service);
        record->calls[round]++;
        if (samples < SAMPLES_MAX)
            record->ns[samples++] = elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
    } while (now_ns() < end);
    record->mark[round + 1] = samples;
}

_Noreturn static void client_run(unsigned number)
{
    struct client c = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    client_start(&c, number);
    for (unsigned round = 0; round < plan.rounds; round++)
        for (unsigned position = 0; position < plan.lane_count; position++) {
            unsigned lane = lane_at(round, position);
            struct action a = action_of(&plan.lanes[lane], number);
            struct record *record = record_of(lane, number);
            uint64_t verified = c.verified;
            pthread_barrier_wait(barrier);
            if (a.operation) {
                slice_of(lane, round)->start[number] = now_ns();
                take_slice(&c, a, record, round);
                slice_of(lane, round)->end[number] = now_ns();
                record->verified += c.verified - verified;
            }
            pthread_barrier_wait(barrier);
        }
    _exit(0);
}

static uint64_t wall_of(const struct slice *slice, unsigned clients)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned c = 0; c < clients; c++) {
        first = slice->start[c] < first ? slice->start[c] : first;
        last = slice->end[c] > last ? slice->end[c] : last;
    }
    return last - first;
}

/* The process that a lane's time on the processor is charged to. */
static pid_t pid_of(const struct service *service)
{
    if (!service)
        return 0;
    if (service == &gnome)
        return plan.gnome_pid;
    return service->real ? plan.broker_pid : plan.echo_pid;
}

static void conduct_slice(unsigned lane, unsigned round)
{
    const struct lane *l = &plan.lanes[lane];
    pid_t pid = pid_of(l->action.service);
    uint64_t cpu = cpu_ns(pid);
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    slice_of(lane, round)->cpu_ns = cpu_ns(pid) - cpu;
    slice_of(lane, round)->wall_ns = wall_of(slice_of(lane, round), l->clients);
}

static void start_clients(void)
{
    end_with_children();
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    barrier = shared_memory(sizeof *barrier);
    pthread_barrier_init(barrier, &attributes, plan.clients + 2);
    for (unsigned number = 0; number <= plan.clients; number++) {
        pid_t pid = fork();
        must(pid, "fork");
        if (pid == 0)
            client_run(number);
    }
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"items", 1, 0, 'i'},  {"rounds", 1, 0, 'r'},     {"seconds", 1, 0, 's'},  {"warm", 1, 0, 'w'},
        {"folder", 1, 0, 'f'}, {"broker-pid", 1, 0, 'b'}, {"echo-pid", 1, 0, 'e'},
        {"gnome-pid", 1, 0, 'g'}, {0, 0, 0, 0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) >= 0;)
        switch (o) {
        case 'i': plan.items = number_option(optarg, FIRST_NEW_ITEM); break;
        case 'r': plan.rounds = (unsigned)number_option(optarg, ROUNDS_MAX); break;
        case 's': plan.slice_ns = (uint64_t)(strtod(optarg, NULL) * 1e9); break;
        case 'w': plan.warm = (unsigned)number_option(optarg, 100000); break;
        case 'f': plan.folder = optarg; break;
        case 'b': plan.broker_pid = (pid_t)number_option(optarg, INT32_MAX); break;
        case 'e': plan.echo_pid = (pid_t)number_option(optarg, INT32_MAX); break;
        case 'g': plan.gnome_pid = (pid_t)number_option(optarg, INT32_MAX); break;
        default: die("measure: unknown option", 0, NULL);
        }
    if (argc - optind < 1 || argc - optind > (int)LANES_MAX || !plan.items || !plan.rounds)
        die("measure: between 1 and 16 lanes, one item and one round at least", 0, NULL);
    for (; optind < argc; optind++) {
        struct lane *lane = &plan.lanes[plan.lane_count++];
        *lane = lane_parse(argv[optind]);
        plan.clients = lane->clients > plan.clients ? lane->clients : plan.clients;
    }
}

int measure_main(int argc, char **argv)
{
    unsigned entries = 0;
    size_t bytes = 0;
    read_options(argc, argv);
    sd_bus *bus = bus_connect();
    if (plan_uses(&echo))
        echo_take_shape(bus, plan_uses(&broker), &entries, &bytes);
    sd_bus_flush_close_unref(bus);
    if (plan_uses(&secrets))
        front_find_items(&secrets, plan.items);
    records = shared_memory(sizeof *records * plan.lane_count * (plan.clients + 1));
    slices = shared_memory(sizeof *slices * plan.lane_count * ROUNDS_MAX);
    start_clients();
    for (unsigned round = 0; round < plan.rounds; round++)
        for (unsigned position = 0; position < plan.lane_count; position++)
            conduct_slice(lane_at(round, position), round);
    printf("{\"reply_entries\":%u,\"reply_bytes\":%zu,\"lanes\":[", entries, bytes);
    for (unsigned lane = 0; lane < plan.lane_count; lane++) {
        if (lane)
            printf(",");
        lane_print(&plan.lanes[lane], record_of(lane, 0), plan.clients, slice_of(lane, 0), plan.rounds);
    }
    printf("]}\n");
    return 0;
}
