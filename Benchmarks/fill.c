/* bench fill: Store, or CreateItem, of items from..items-1, over several connections with several calls in flight on
 * each, so that a broker that shares commits can. Stops early at --limit seconds and says how many there are. */
#include "bench.h"
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct filler {
    struct client client;
    uint64_t next, step, items, deadline, stored;
    unsigned waiting, window;
    bool front;
};

static int on_stored(sd_bus_message *reply, void *user, sd_bus_error *)
{
    struct filler *f = user;
    if (sd_bus_message_is_method_error(reply, NULL))
        die("fill", 0, sd_bus_message_get_error(reply));
    f->waiting--;
    f->stored++;
    return 0;
}

static sd_bus_message *store_call(struct filler *f)
{
    unsigned char secret[SECRET_BYTES];
    item_secret(f->next, secret);
    sd_bus_message *m = call_new(f->client.bus, &broker, "Store");
    item_append_attributes(m, f->next);
    session_append_secret(&f->client.broker_session, m, secret);
    return m;
}

static sd_bus_message *create_call(struct filler *f)
{
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(f->client.bus, &m, secrets.name, secrets.collection,
                                        "org.freedesktop.Secret.Collection", "CreateItem"), "CreateItem");
    front_append_item(&f->client.secrets_session, m, f->next);
    return m;
}

static void send_next(struct filler *f)
{
    sd_bus_message *m = f->front ? create_call(f) : store_call(f);
    must(sd_bus_call_async(f->client.bus, NULL, m, on_stored, f, CALL_TIMEOUT_US), "fill");
    sd_bus_message_unref(m);
    f->next += f->step;
    f->waiting++;
}

static void open_client(struct filler *f)
{
    if (f->front) {
        front_open(&f->client.secrets_session, &secrets);
        f->client.bus = f->client.secrets_session.bus;
        return;
    }
    f->client.bus = bus_connect();
    session_open(&f->client.broker_session, f->client.bus, &broker);
}

/* Returns how many this connection stored; those it sent are 0, 1, 2, ... of its share, without a gap. */
static uint64_t fill_share(struct filler *f)
{
    open_client(f);
    for (;;) {
        while (f->waiting < f->window && f->next < f->items && now_ns() < f->deadline)
            send_next(f);
        if (!f->waiting)
            return f->stored;
        int r = sd_bus_process(f->client.bus, NULL);
        must(r, "fill: process");
        if (r == 0)
            must(sd_bus_wait(f->client.bus, UINT64_MAX), "fill: wait");
    }
}

static void fork_share(struct filler f, uint64_t *stored)
{
    pid_t pid = fork();
    must(pid, "fork");
    if (pid)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    *stored = fill_share(&f);
    _exit(0);
}

/* Items that are there without a gap: every connection's share is interleaved with the others'. */
static uint64_t without_gap(const uint64_t *stored, uint64_t connections)
{
    uint64_t least = UINT64_MAX, first = 0;
    for (uint64_t c = 0; c < connections; c++)
        if (stored[c] < least) {
            least = stored[c];
            first = c;
        }
    return least * connections + first;
}

static struct {
    uint64_t from, items, connections, limit;
    unsigned window;
    bool front;
} plan = {.connections = 4, .limit = 3600, .window = 64};

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {{"from", 1, 0, 'f'},   {"items", 1, 0, 'i'},
                                            {"window", 1, 0, 'w'}, {"connections", 1, 0, 'c'},
                                            {"limit", 1, 0, 'l'},  {"secrets", 0, 0, 's'},
                                            {0, 0, 0, 0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) >= 0;)
        switch (o) {
        case 'f': plan.from = number_option(optarg, UINT32_MAX); break;
        case 'i': plan.items = number_option(optarg, UINT32_MAX); break;
        case 'c': plan.connections = number_option(optarg, CLIENTS_MAX); break;
        case 'w': plan.window = (unsigned)number_option(optarg, 200); break;
        case 'l': plan.limit = number_option(optarg, 86400); break;
        case 's': plan.front = true; break;
        default: die("fill: unknown option", 0, NULL);
        }
    if (!plan.connections || !plan.window || plan.items < plan.from)
        die("fill: --items, --connections or --window is too small", 0, NULL);
}

static void fill_all(uint64_t *stored, uint64_t deadline)
{
    for (uint64_t c = 0; c < plan.connections; c++)
        fork_share((struct filler){.next = plan.from + c, .step = plan.connections, .items = plan.items,
                                   .window = plan.window, .deadline = deadline, .front = plan.front}, &stored[c]);
    for (int status; wait(&status) > 0;)
        if (status)
            _exit(1);
}

int fill_main(int argc, char **argv)
{
    read_options(argc, argv);
    uint64_t *stored = shared_memory(sizeof *stored * CLIENTS_MAX);
    uint64_t start = now_ns(), sum = 0;
    fill_all(stored, start + plan.limit * 1000000000u);
    double seconds = (double)(now_ns() - start) / 1e9;
    for (uint64_t c = 0; c < plan.connections; c++)
        sum += stored[c];
    uint64_t there = plan.from + without_gap(stored, plan.connections);
    there = there < plan.items ? there : plan.items;
    printf("{\"items\":%" PRIu64 ",\"seconds\":%.3f,\"rate\":%.1f}\n", there, seconds,
           (double)sum / seconds);
    return 0;
}
