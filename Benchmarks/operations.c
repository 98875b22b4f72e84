/* What is timed. Broker and echo get the same messages; replies are checked outside the timed part. */
#include "bench.h"
#include <string.h>

/* Looks at the attributes and the secret of a reply. */
static void check_read(struct client *c, const struct service *service, sd_bus_message *reply, uint64_t item)
{
    unsigned char secret[SECRET_BYTES], wanted[SECRET_BYTES];
    bool verify = service->real && c->reads++ % VERIFY_EVERY == 0;
    if (verify)
        item_check_attributes(reply, item);
    else
        must(sd_bus_message_skip(reply, "a{sv}"), "a reply's attributes");
    session_read_secret(client_session(c, service), reply, verify ? secret : NULL);
    if (!verify)
        return;
    item_secret(item, wanted);
    if (memcmp(secret, wanted, sizeof wanted) != 0)
        die("a reply has another secret than was stored", 0, NULL);
    c->verified++;
}

static uint64_t run_read(struct client *c, const struct service *service)
{
    uint64_t item = client_pick(c), start = now_ns();
    sd_bus_message *m = call_new(client_bus(c, service), service, "Read");
    item_append_query(m, item);
    must(sd_bus_message_append(m, "o", client_session(c, service)->path), "append");
    sd_bus_message *reply = call_send(client_bus(c, service), m, "Read");
    uint64_t elapsed = now_ns() - start;
    check_read(c, service, reply, item);
    sd_bus_message_unref(reply);
    return elapsed;
}

/* Revision 0 is no item's, so the answer is "current", with the secret. */
static uint64_t run_begin(struct client *c, const struct service *service)
{
    uint64_t item = client_pick(c), start = now_ns(), fence;
    const char *outcome;
    sd_bus_message *m = call_on(client_bus(c, service), service, service->refresh, "Begin");
    item_append_query(m, item);
    must(sd_bus_message_append(m, "tto", (uint64_t)0, CALL_TIMEOUT_US, client_session(c, service)->path), "append");
    sd_bus_message *reply = call_send(client_bus(c, service), m, "Begin");
    uint64_t elapsed = now_ns() - start;
    must(sd_bus_message_read(reply, "st", &outcome, &fence), "Begin: outcome");
    if (strcmp(outcome, "current") != 0)
        die("Begin: the answer is not current", 0, NULL);
    check_read(c, service, reply, item);
    sd_bus_message_unref(reply);
    return elapsed;
}

static void check_search(struct client *c, const struct service *service, sd_bus_message *reply,
                         uint64_t item)
{
    must(sd_bus_message_enter_container(reply, 'a', "a{sv}"), "Search: items");
    if (sd_bus_message_at_end(reply, 0) > 0)
        die("Search: an item is missing", 0, NULL);
    if (service->real && c->reads++ % VERIFY_EVERY == 0) {
        item_check_attributes(reply, item);
        c->verified++;
    } else {
        must(sd_bus_message_skip(reply, "a{sv}"), "Search: attributes");
    }
    if (sd_bus_message_at_end(reply, 0) == 0)
        die("Search: more than one item", 0, NULL);
}

static uint64_t run_search(struct client *c, const struct service *service)
{
    uint64_t item = client_pick(c), start = now_ns();
    sd_bus_message *m = call_new(client_bus(c, service), service, "Search");
    item_append_query(m, item);
    sd_bus_message *reply = call_send(client_bus(c, service), m, "Search");
    uint64_t elapsed = now_ns() - start;
    check_search(c, service, reply, item);
    sd_bus_message_unref(reply);
    return elapsed;
}

static uint64_t run_store(struct client *c, const struct service *service)
{
    unsigned char secret[SECRET_BYTES];
    uint64_t item = client_next_new(c);
    item_secret(item, secret);
    uint64_t start = now_ns();
    sd_bus_message *m = call_new(client_bus(c, service), service, "Store");
    item_append_attributes(m, item);
    session_append_secret(client_session(c, service), m, secret);
    sd_bus_message *reply = call_send(client_bus(c, service), m, "Store");
    uint64_t elapsed = now_ns() - start;
    const char *reference;
    uint64_t revision;
    int created;
    must(sd_bus_message_read(reply, "stb", &reference, &revision, &created), "Store: reply");
    sd_bus_message_unref(reply);
    return elapsed;
}

const struct operation *operation_named(const char *word)
{
    static const struct operation all[] = {
        {"read", run_read, false}, {"begin", run_begin, false}, {"search", run_search, false},
        {"store", run_store, false}, {"commit", rows_commit, false}, {"get-secret", front_get_secret, true},
        {"search-items", front_search, true}, {"miss", front_miss, true}, {"look-up", front_look_up, true},
        {"visit", front_visit, true}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!strcmp(all[k].word, word))
            return &all[k];
    return NULL;
}

/* What the contract adds to an item's own attributes in a reply, for runs without a broker. */
static void append_likely_attributes(sd_bus_message *m)
{
    static const char *const text[][2] = {
        {"Class", "generic-password"}, {"Service", "service-0"}, {"Account", "account-0"},
        {"Accessible", "after-first-unlock"}, {"Label", "Password of account 0"},
        {"Description", "application password"}, {"Comment", "kept for the benchmark, of no other use"},
        {"AccessGroup", "bench.items"}, {"Reference", "0123456789abcdef0123456789abcdef"}};
    static const char *const number[] = {"Revision", "Created", "Modified"};
    must(sd_bus_message_open_container(m, 'a', "{sv}"), "append");
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        must(sd_bus_message_append(m, "{sv}", text[k][0], "s", text[k][1]), "append");
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        must(sd_bus_message_append(m, "{sv}", number[k], "t", (uint64_t)1), "append");
    must(sd_bus_message_append(m, "{sv}", "Synchronizable", "b", 0), "append");
    must(sd_bus_message_close_container(m), "append");
}

void echo_take_shape(sd_bus *bus, bool from_broker, unsigned *entries, size_t *bytes)
{
    uint32_t count, size;
    sd_bus_message *shape = call_new(bus, &echo, "TakeShape"), *found = NULL;
    if (from_broker) {
        sd_bus_message *search = call_new(bus, &broker, "Search");
        item_append_query(search, 0);
        found = call_send(bus, search, "Search");
        must(sd_bus_message_enter_container(found, 'a', "a{sv}"), "Search: items");
        if (sd_bus_message_at_end(found, 0) > 0)
            die("Search: item 0 is missing", 0, NULL);
        must(sd_bus_message_copy(shape, found, 0), "TakeShape");
    } else {
        append_likely_attributes(shape);
    }
    sd_bus_message *reply = call_send(bus, shape, "TakeShape");
    must(sd_bus_message_read(reply, "uu", &count, &size), "TakeShape: reply");
    *entries = count;
    *bytes = size;
    sd_bus_message_unref(reply);
    sd_bus_message_unref(found);
}
