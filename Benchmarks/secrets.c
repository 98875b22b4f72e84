/* A client's end of org.freedesktop.secrets: its session, what item number i is there, and under which path. */
#include "bench.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTION "org.freedesktop.Secret.Collection"
#define ITEM "org.freedesktop.Secret.Item"
#define ACCOUNT_FORMAT "user-%08" PRIu64 "@example.org"
#define ACCOUNT_SCAN "user-%8" SCNu64 "@example.org"

static char (*paths)[PATH_BYTES];

void front_open(struct front_session *s, const struct service *service)
{
    const char *path;
    s->bus = service_connect(service);
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(s->bus, &m, service->name, service->path, service->front, "OpenSession"),
         "OpenSession");
    must(sd_bus_message_append(m, "sv", "plain", "s", ""), "append");
    sd_bus_message *reply = call_send(s->bus, m, "OpenSession");
    must(sd_bus_message_skip(reply, "v"), "OpenSession: output");
    must(sd_bus_message_read(reply, "o", &path), "OpenSession: session");
    snprintf(s->path, sizeof s->path, "%s", path);
    sd_bus_message_unref(reply);
}

static void append_text(sd_bus_message *m, const char *key, const char *value)
{
    must(sd_bus_message_append(m, "{ss}", key, value), "append");
}

/* keyring.py writes the same into gnome-keyring's file. */
void front_append_attributes(sd_bus_message *m, uint64_t i)
{
    char text[64];
    must(sd_bus_message_open_container(m, 'a', "{ss}"), "append");
    append_text(m, "xdg:schema", "org.example.Password");
    snprintf(text, sizeof text, "service-%03" PRIu64, i % 100);
    append_text(m, "service", text);
    snprintf(text, sizeof text, ACCOUNT_FORMAT, i);
    append_text(m, "account", text);
    snprintf(text, sizeof text, "host-%03" PRIu64 ".example.org", i % 250);
    append_text(m, "host", text);
    append_text(m, "port", "443");
    append_text(m, "protocol", "https");
    must(sd_bus_message_close_container(m), "append");
}

static void append_properties(sd_bus_message *m, uint64_t i)
{
    char label[64];
    snprintf(label, sizeof label, "Password of account %" PRIu64, i);
    must(sd_bus_message_open_container(m, 'a', "{sv}"), "append");
    must(sd_bus_message_append(m, "{sv}", ITEM ".Label", "s", label), "append");
    must(sd_bus_message_open_container(m, 'e', "sv"), "append");
    must(sd_bus_message_append(m, "s", ITEM ".Attributes"), "append");
    must(sd_bus_message_open_container(m, 'v', "a{ss}"), "append");
    front_append_attributes(m, i);
    must(sd_bus_message_close_container(m), "append");
    must(sd_bus_message_close_container(m), "append");
    must(sd_bus_message_close_container(m), "append");
}

void front_append_item(const struct front_session *s, sd_bus_message *m, uint64_t i)
{
    unsigned char secret[SECRET_BYTES];
    item_secret(i, secret);
    append_properties(m, i);
    must(sd_bus_message_open_container(m, 'r', "oayays"), "append");
    must(sd_bus_message_append(m, "o", s->path), "append");
    must(sd_bus_message_append_array(m, 'y', NULL, 0), "append");
    must(sd_bus_message_append_array(m, 'y', secret, sizeof secret), "append");
    must(sd_bus_message_append(m, "s", "text/plain"), "append");
    must(sd_bus_message_close_container(m), "append");
    must(sd_bus_message_append(m, "b", 0), "append");
}

static sd_bus_message *property(sd_bus *bus, const struct service *service, const char *path,
                                const char *interface, const char *name, const char *type)
{
    sd_bus_error e = SD_BUS_ERROR_NULL;
    sd_bus_message *m = NULL;
    int r = sd_bus_get_property(bus, service->name, path, interface, name, &e, &m, type);
    if (r < 0)
        die(name, r, &e);
    return m;
}

/* The number that an item's attributes tell of. */
static uint64_t number_of(sd_bus *bus, const struct service *service, const char *path)
{
    const char *key, *value;
    uint64_t number = UINT64_MAX;
    int r;
    sd_bus_message *m = property(bus, service, path, service->front_item, "Attributes", "a{ss}");
    must(sd_bus_message_enter_container(m, 'a', "{ss}"), "Attributes");
    while ((r = sd_bus_message_read(m, "{ss}", &key, &value)) > 0)
        if (!strcmp(key, "account") && sscanf(value, ACCOUNT_SCAN, &number) != 1)
            die("an item's account is none of ours", 0, NULL);
    must(r, "Attributes");
    sd_bus_message_unref(m);
    return number;
}

static void find_item(sd_bus *bus, const struct service *service, const char *path, uint64_t items)
{
    uint64_t number = number_of(bus, service, path);
    if (number >= items || paths[number][0] || strlen(path) >= PATH_BYTES)
        die("the collection has an item too many", 0, NULL);
    snprintf(paths[number], PATH_BYTES, "%s", path);
}

void front_find_items(const struct service *service, uint64_t items)
{
    const char *path;
    int r;
    sd_bus *bus = service_connect(service);
    paths = calloc(items, sizeof *paths);
    if (!paths)
        die("out of memory", 0, NULL);
    sd_bus_message *m = property(bus, service, service->collection, COLLECTION, "Items", "ao");
    must(sd_bus_message_enter_container(m, 'a', "o"), "Items");
    while ((r = sd_bus_message_read_basic(m, 'o', &path)) > 0)
        find_item(bus, service, path, items);
    must(r, "Items");
    for (uint64_t i = 0; i < items; i++)
        if (!paths[i][0])
            die("the collection lacks an item", 0, NULL);
    sd_bus_message_unref(m);
    sd_bus_flush_close_unref(bus);
}

const char *front_item_path(const struct service *service, uint64_t i)
{
    static char path[PATH_BYTES];
    if (service == &secrets)
        return paths[i];
    if (service->numbered)
        snprintf(path, sizeof path, "%s/%" PRIu64, service->collection, i + 1);
    else
        snprintf(path, sizeof path, "%s/%032" PRIx64, service->collection, i);
    return path;
}
