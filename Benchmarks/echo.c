/* The floor of every call: a bare sd-bus service that takes and returns messages of the broker's shapes and
 * does nothing else. It reads its arguments whole, as any service must, and answers with the attributes that
 * TakeShape gave it, and with 12 and 80 bytes that are nobody's secret. To those who subscribed it sends signals of
 * the broker's shape, each its own. */
#include "echo.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#define ENTRIES_MAX 32u
#define SUBSCRIBERS_MAX 4096u
#define ANY_REFERENCE "0123456789abcdef0123456789abcdef"

struct entry {
    char key[32], type[2], text[256];
    uint64_t number;
    int flag;
};
static struct entry shape[ENTRIES_MAX];
static unsigned shape_entries;
static uint64_t nonce_counter, bytes_seen, revision;

static struct {
    char name[32];
    uint64_t sequence;
} subscribers[SUBSCRIBERS_MAX];
static unsigned subscriber_count;

static int read_value(sd_bus_message *m, struct entry *e)
{
    const char *text;
    switch (e->type[0]) {
    case 's':
        TRY(sd_bus_message_read(m, "v", "s", &text));
        snprintf(e->text, sizeof e->text, "%s", text);
        return 0;
    case 't':
        return sd_bus_message_read(m, "v", "t", &e->number);
    case 'b':
        return sd_bus_message_read(m, "v", "b", &e->flag);
    default:
        return -EOPNOTSUPP;
    }
}

static int read_entry(sd_bus_message *m, struct entry *e)
{
    const char *key, *type;
    TRY(sd_bus_message_read(m, "s", &key));
    TRY(sd_bus_message_peek_type(m, NULL, &type));
    snprintf(e->key, sizeof e->key, "%s", key);
    snprintf(e->type, sizeof e->type, "%s", type);
    TRY(read_value(m, e));
    return sd_bus_message_exit_container(m);
}

static size_t entry_bytes(const struct entry *e)
{
    size_t number = e->type[0] == 't' ? sizeof(uint64_t) : sizeof(uint32_t);
    return strlen(e->key) + (e->type[0] == 's' ? strlen(e->text) : number);
}

static int take_shape(sd_bus_message *m, void *, sd_bus_error *)
{
    int r;
    size_t bytes = 0;
    shape_entries = 0;
    TRY(sd_bus_message_enter_container(m, 'a', "{sv}"));
    while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
        if (shape_entries == ENTRIES_MAX)
            return -E2BIG;
        TRY(read_entry(m, &shape[shape_entries]));
        bytes += entry_bytes(&shape[shape_entries++]);
    }
    TRY(r);
    return sd_bus_reply_method_return(m, "uu", shape_entries, (uint32_t)bytes);
}

static int append_shape(sd_bus_message *reply)
{
    TRY(sd_bus_message_open_container(reply, 'a', "{sv}"));
    for (unsigned k = 0; k < shape_entries; k++) {
        const struct entry *e = &shape[k];
        if (e->type[0] == 's')
            TRY(sd_bus_message_append(reply, "{sv}", e->key, "s", e->text));
        else if (e->type[0] == 't')
            TRY(sd_bus_message_append(reply, "{sv}", e->key, "t", e->number));
        else
            TRY(sd_bus_message_append(reply, "{sv}", e->key, "b", e->flag));
    }
    return sd_bus_message_close_container(reply);
}

static int append_secret(sd_bus_message *reply, const char *session)
{
    static unsigned char nonce[12];
    static const unsigned char value[80];
    uint64_t counter = ++nonce_counter;
    for (unsigned k = 0; k < 8; k++)
        nonce[4 + k] = (unsigned char)(counter >> (56 - 8 * k));
    TRY(sd_bus_message_open_container(reply, 'r', "oayay"));
    TRY(sd_bus_message_append(reply, "o", session));
    TRY(sd_bus_message_append_array(reply, 'y', nonce, sizeof nonce));
    TRY(sd_bus_message_append_array(reply, 'y', value, sizeof value));
    return sd_bus_message_close_container(reply);
}

static int read_texts(sd_bus_message *m)
{
    const char *key, *value;
    int r;
    TRY(sd_bus_message_enter_container(m, 'a', "{sv}"));
    while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
        TRY(sd_bus_message_read(m, "s", &key));
        TRY(sd_bus_message_read(m, "v", "s", &value));
        bytes_seen += strlen(key) + strlen(value);
        TRY(sd_bus_message_exit_container(m));
    }
    TRY(r);
    return sd_bus_message_exit_container(m);
}

int answer(sd_bus_message *reply, int r)
{
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r < 0 ? r : 1;
}

static int append_read(sd_bus_message *reply, const char *session)
{
    TRY(append_shape(reply));
    return append_secret(reply, session);
}

static int do_read(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *session;
    sd_bus_message *reply = NULL;
    TRY(read_texts(m));
    TRY(sd_bus_message_read(m, "o", &session));
    TRY(sd_bus_message_new_method_return(m, &reply));
    return answer(reply, append_read(reply, session));
}

static int append_begin(sd_bus_message *reply, const char *session)
{
    TRY(sd_bus_message_append(reply, "st", "current", (uint64_t)0));
    return append_read(reply, session);
}

static int do_begin(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *session;
    uint64_t stale, timeout;
    sd_bus_message *reply = NULL;
    TRY(read_texts(m));
    TRY(sd_bus_message_read(m, "tto", &stale, &timeout, &session));
    bytes_seen += stale + timeout;
    TRY(sd_bus_message_new_method_return(m, &reply));
    return answer(reply, append_begin(reply, session));
}

static int append_search(sd_bus_message *reply)
{
    TRY(sd_bus_message_open_container(reply, 'a', "a{sv}"));
    TRY(append_shape(reply));
    return sd_bus_message_close_container(reply);
}

static int do_search(sd_bus_message *m, void *, sd_bus_error *)
{
    sd_bus_message *reply = NULL;
    TRY(read_texts(m));
    TRY(sd_bus_message_new_method_return(m, &reply));
    return answer(reply, append_search(reply));
}

static int do_store(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *session;
    const void *nonce, *value;
    size_t nonce_bytes, value_bytes;
    TRY(read_texts(m));
    TRY(sd_bus_message_enter_container(m, 'r', "oayay"));
    TRY(sd_bus_message_read(m, "o", &session));
    TRY(sd_bus_message_read_array(m, 'y', &nonce, &nonce_bytes));
    TRY(sd_bus_message_read_array(m, 'y', &value, &value_bytes));
    bytes_seen += strlen(session) + nonce_bytes + value_bytes;
    return sd_bus_reply_method_return(m, "stb", ANY_REFERENCE, (uint64_t)1, 1);
}

static int do_subscribe(sd_bus_message *m, void *, sd_bus_error *)
{
    if (subscriber_count == SUBSCRIBERS_MAX)
        return -E2BIG;
    snprintf(subscribers[subscriber_count++].name, sizeof subscribers->name, "%s", sd_bus_message_get_sender(m));
    return sd_bus_reply_method_return(m, "");
}

static int do_forget(sd_bus_message *m, void *, sd_bus_error *)
{
    memset(subscribers, 0, sizeof subscribers);
    subscriber_count = 0;
    return sd_bus_reply_method_return(m, "");
}

static int tell(sd_bus *bus, unsigned number)
{
    sd_bus_message *m = NULL;
    TRY(sd_bus_message_new_signal(bus, &m, PATH, NAME ".Subscriptions", "ItemChanged"));
    int r = sd_bus_message_set_destination(m, subscribers[number].name);
    if (r >= 0)
        r = sd_bus_message_append(m, "tssst", ++subscribers[number].sequence, "bench.items", ANY_REFERENCE, "updated",
                                  revision);
    return answer(m, r);
}

/* Sends as many signals to each subscriber, change after change, as the broker does. */
static int do_change(sd_bus_message *m, void *, sd_bus_error *)
{
    uint32_t changes;
    TRY(sd_bus_message_read(m, "u", &changes));
    for (uint32_t change = 0; change < changes; change++) {
        revision++;
        for (unsigned number = 0; number < subscriber_count; number++)
            TRY(tell(sd_bus_message_get_bus(m), number));
    }
    return sd_bus_reply_method_return(m, "u", changes);
}

static const sd_bus_vtable methods[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("TakeShape", "a{sv}", "uu", take_shape, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Read", "a{sv}o", "a{sv}(oayay)", do_read, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Search", "a{sv}", "aa{sv}", do_search, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Store", "a{sv}(oayay)", "stb", do_store, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Begin", "a{sv}tto", "sta{sv}(oayay)", do_begin, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Subscribe", "", "", do_subscribe, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("ForgetSubscribers", "", "", do_forget, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Change", "u", "u", do_change, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static int serve(void)
{
    sd_bus *bus = NULL;
    sd_event *event = NULL;
    TRY(sd_event_default(&event));
    TRY(sd_bus_open_user(&bus));
    TRY(sd_bus_add_object_vtable(bus, NULL, PATH, NAME ".Items", methods, NULL));
    TRY(sd_bus_add_fallback_vtable(bus, NULL, PATH "/secrets", NAME ".Secrets", secret_methods, NULL, NULL));
    TRY(sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL));
    TRY(sd_bus_request_name(bus, NAME, 0));
    puts("ready");
    fflush(stdout);
    return sd_event_loop(event);
}

int main(void)
{
    int r = serve();
    if (r < 0)
        fprintf(stderr, "echo: %s\n", strerror(-r));
    return r < 0;
}
