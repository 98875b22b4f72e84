/* A client's connection, its calls, and the numbers of the items it asks for and adds. */
#include "bench.h"
#include <errno.h>
#include <stdlib.h>

const struct service broker = {
    .word = "broker",
    .name = "org.chatelaine.Broker1",
    .path = "/org/chatelaine/Broker1",
    .address = "DBUS_SESSION_BUS_ADDRESS",
    .items = "org.chatelaine.Broker1.Items",
    .refresh = "org.chatelaine.Broker1.Refresh",
    .subscriptions = "org.chatelaine.Broker1.Subscriptions",
    .real = true,
};
const struct service direct = {
    .word = "direct",
    .name = "org.chatelaine.Broker1",
    .path = "/org/chatelaine/Broker1",
    .items = "org.chatelaine.Broker1.Items",
    .refresh = "org.chatelaine.Broker1.Refresh",
    .subscriptions = "org.chatelaine.Broker1.Subscriptions",
    .real = true,
};
const struct service plain = {
    .word = "plain",
    .name = "org.chatelaine.Broker1",
    .path = "/org/chatelaine/Broker1",
    .items = "org.chatelaine.Broker1.Items",
    .refresh = "org.chatelaine.Broker1.Refresh",
    .subscriptions = "org.chatelaine.Broker1.Subscriptions",
    .plain = true,
    .real = true,
};
const struct service echo = {
    .word = "echo",
    .name = "org.chatelaine.Echoes1",
    .path = "/org/chatelaine/Echoes1",
    .items = "org.chatelaine.Echoes1.Items",
    .refresh = "org.chatelaine.Echoes1.Items",
    .subscriptions = "org.chatelaine.Echoes1.Subscriptions",
    .real = false,
};

const struct service secrets = {
    .word = "secrets",
    .name = "org.freedesktop.secrets",
    .path = "/org/freedesktop/secrets",
    .address = "DBUS_SESSION_BUS_ADDRESS",
    .front = "org.freedesktop.Secret.Service",
    .front_item = "org.freedesktop.Secret.Item",
    .collection = "/org/freedesktop/secrets/collection/login",
    .real = true,
};
const struct service gnome = {
    .word = "gnome",
    .name = "org.freedesktop.secrets",
    .path = "/org/freedesktop/secrets",
    .address = "BENCH_GNOME_ADDRESS",
    .front = "org.freedesktop.Secret.Service",
    .front_item = "org.freedesktop.Secret.Item",
    .collection = "/org/freedesktop/secrets/collection/login",
    .real = true,
    .numbered = true,
};
const struct service secrets_echo = {
    .word = "echo",
    .name = "org.chatelaine.Echoes1",
    .path = "/org/chatelaine/Echoes1/secrets",
    .address = "DBUS_SESSION_BUS_ADDRESS",
    .front = "org.chatelaine.Echoes1.Secrets",
    .front_item = "org.chatelaine.Echoes1.Secrets",
    .collection = "/org/chatelaine/Echoes1/secrets/collection/login",
};

/* A client adds this many items and then stores over them, so that a fast store stays within its quota. */
#define NEW_ITEMS_MAX 3000u

static sd_bus *connect_to(const char *variable, bool is_bus)
{
    sd_bus *bus = NULL;
    const char *address = getenv(variable);
    if (!address)
        die(variable, ENOENT, NULL);
    must(sd_bus_new(&bus), "sd_bus_new");
    must(sd_bus_set_address(bus, address), "address");
    must(sd_bus_set_bus_client(bus, is_bus), "bus client");
    must(sd_bus_start(bus), "connect");
    return bus;
}

sd_bus *bus_connect(void)
{
    return connect_to("DBUS_SESSION_BUS_ADDRESS", true);
}

sd_bus *service_connect(const struct service *service)
{
    return connect_to(service->address, true);
}

sd_bus *direct_connect(void)
{
    return connect_to("BENCH_DIRECT_ADDRESS", false);
}

sd_bus *client_bus(struct client *c, const struct service *service)
{
    return service == &direct || service == &plain ? c->direct_bus : c->bus;
}

sd_bus_message *call_on(sd_bus *bus, const struct service *service, const char *interface, const char *member)
{
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(bus, &m, service->name, service->path, interface, member), member);
    return m;
}

sd_bus_message *call_new(sd_bus *bus, const struct service *service, const char *member)
{
    return call_on(bus, service, service->items, member);
}

sd_bus_message *call_send(sd_bus *bus, sd_bus_message *m, const char *member)
{
    sd_bus_error e = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r = sd_bus_call(bus, m, CALL_TIMEOUT_US, &e, &reply);
    if (r < 0)
        die(member, r, &e);
    sd_bus_message_unref(m);
    return reply;
}

struct session *client_session(struct client *c, const struct service *service)
{
    if (service == &direct)
        return &c->direct_session;
    if (service == &plain)
        return &c->plain_session;
    return service == &broker ? &c->broker_session : &c->echo_session;
}

struct front_session *client_front(struct client *c, const struct service *service)
{
    if (service == &gnome)
        return &c->gnome_session;
    return service == &secrets ? &c->secrets_session : &c->secrets_echo_session;
}

uint64_t client_pick(struct client *c)
{
    uint64_t x = c->random; /* xorshift64: any spread will do */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    c->random = x;
    return x % c->items;
}

uint64_t client_next_new(struct client *c)
{
    return c->first_new + c->added++ % NEW_ITEMS_MAX;
}
