/* What is timed of org.freedesktop.secrets. The broker, gnome-keyring and the echo get the same messages; replies are
 * checked outside the timed part. */
#include "bench.h"
#include <string.h>

static sd_bus_message *call_at(const struct front_session *s, const struct service *service, const char *path,
                               const char *interface, const char *member)
{
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(s->bus, &m, service->name, path, interface, member), member);
    return m;
}

/* Reads `(oayays)`, and compares the secret now and then. */
static void check_secret(struct client *c, const struct service *service, sd_bus_message *m, uint64_t item)
{
    unsigned char wanted[SECRET_BYTES];
    const void *secret;
    size_t bytes;
    must(sd_bus_message_enter_container(m, 'r', "oayays"), "a reply's secret");
    must(sd_bus_message_skip(m, "oay"), "a reply's secret");
    must(sd_bus_message_read_array(m, 'y', &secret, &bytes), "a reply's secret");
    must(sd_bus_message_skip(m, "s"), "a reply's secret");
    must(sd_bus_message_exit_container(m), "a reply's secret");
    if (bytes != SECRET_BYTES)
        die("a reply's secret has another length", 0, NULL);
    if (!service->real || c->reads++ % VERIFY_EVERY != 0)
        return;
    item_secret(item, wanted);
    if (memcmp(secret, wanted, sizeof wanted) != 0)
        die("a reply has another secret than was stored", 0, NULL);
    c->verified++;
}

uint64_t front_get_secret(struct client *c, const struct service *service)
{
    struct front_session *s = client_front(c, service);
    uint64_t item = client_pick(c);
    const char *path = front_item_path(service, item);
    uint64_t start = now_ns();
    sd_bus_message *m = call_at(s, service, path, service->front_item, "GetSecret");
    must(sd_bus_message_append(m, "o", s->path), "append");
    sd_bus_message *reply = call_send(s->bus, m, "GetSecret");
    uint64_t elapsed = now_ns() - start;
    check_secret(c, service, reply, item);
    sd_bus_message_unref(reply);
    return elapsed;
}

static sd_bus_message *search(const struct front_session *s, const struct service *service, const char *member,
                              uint64_t item)
{
    sd_bus_message *m = call_at(s, service, service->path, service->front, member);
    front_append_attributes(m, item);
    return call_send(s->bus, m, member);
}

/* Reads `aoao`; returns the one unlocked item, or null where there is none, locked or unlocked. */
static const char *only_match(sd_bus_message *m)
{
    const char *path = NULL, *second;
    must(sd_bus_message_enter_container(m, 'a', "o"), "SearchItems: unlocked");
    must(sd_bus_message_read_basic(m, 'o', &path), "SearchItems: unlocked");
    if (sd_bus_message_read_basic(m, 'o', &second) > 0)
        die("SearchItems: more than one item", 0, NULL);
    must(sd_bus_message_exit_container(m), "SearchItems: unlocked");
    must(sd_bus_message_enter_container(m, 'a', "o"), "SearchItems: locked");
    if (sd_bus_message_at_end(m, 0) == 0)
        die("SearchItems: the item is locked", 0, NULL);
    must(sd_bus_message_exit_container(m), "SearchItems: locked");
    return path;
}

static void check_match(const struct service *service, const char *path, uint64_t item)
{
    if (!path)
        die("SearchItems: the item is missing", 0, NULL);
    if (service->real && strcmp(path, front_item_path(service, item)) != 0)
        die("SearchItems: another item than was asked for", 0, NULL);
}

uint64_t front_search(struct client *c, const struct service *service)
{
    uint64_t item = client_pick(c), start = now_ns();
    sd_bus_message *reply = search(client_front(c, service), service, "SearchItems", item);
    uint64_t elapsed = now_ns() - start;
    check_match(service, only_match(reply), item);
    sd_bus_message_unref(reply);
    return elapsed;
}

uint64_t front_miss(struct client *c, const struct service *service)
{
    uint64_t item = NO_ITEM + client_pick(c), start = now_ns();
    sd_bus_message *reply = search(client_front(c, service), service,
                                   service->real ? "SearchItems" : "SearchNothing", item);
    uint64_t elapsed = now_ns() - start;
    if (only_match(reply))
        die("SearchItems: an item that was never stored", 0, NULL);
    sd_bus_message_unref(reply);
    return elapsed;
}

/* The reply of GetSecrets, for what SearchItems found. */
static sd_bus_message *look_up(const struct front_session *s, const struct service *service, uint64_t item)
{
    sd_bus_message *found = search(s, service, "SearchItems", item);
    const char *path = only_match(found);
    check_match(service, path, item);
    sd_bus_message *m = call_at(s, service, service->path, service->front, "GetSecrets");
    must(sd_bus_message_append(m, "aoo", 1, path, s->path), "append");
    sd_bus_message_unref(found);
    return call_send(s->bus, m, "GetSecrets");
}

/* Reads `a{o(oayays)}` with that one item. */
static void check_look_up(struct client *c, const struct service *service, sd_bus_message *reply, uint64_t item)
{
    const char *path;
    must(sd_bus_message_enter_container(reply, 'a', "{o(oayays)}"), "GetSecrets: secrets");
    if (sd_bus_message_enter_container(reply, 'e', "o(oayays)") <= 0)
        die("GetSecrets: the item is missing", 0, NULL);
    must(sd_bus_message_read(reply, "o", &path), "GetSecrets: path");
    check_match(service, path, item);
    check_secret(c, service, reply, item);
}

uint64_t front_look_up(struct client *c, const struct service *service)
{
    uint64_t item = client_pick(c), start = now_ns();
    sd_bus_message *reply = look_up(client_front(c, service), service, item);
    uint64_t elapsed = now_ns() - start;
    check_look_up(c, service, reply, item);
    sd_bus_message_unref(reply);
    return elapsed;
}

/* What a program does that is started for one secret, without the start of its process. */
uint64_t front_visit(struct client *c, const struct service *service)
{
    struct front_session s;
    uint64_t item = client_pick(c), start = now_ns();
    front_open(&s, service);
    sd_bus_message *reply = look_up(&s, service, item);
    sd_bus_flush_close_unref(s.bus);
    uint64_t elapsed = now_ns() - start;
    check_look_up(c, service, reply, item);
    sd_bus_message_unref(reply);
    return elapsed;
}
