/* The floor of org.freedesktop.secrets: the same messages, with one path and 64 bytes that are nobody's secret. */
#include "echo.h"
#include <string.h>

#define SECRETS PATH "/secrets"
#define ANY_ITEM SECRETS "/collection/login/0123456789abcdef0123456789abcdef"
#define ANY_SESSION SECRETS "/session/1"

static uint64_t bytes_seen;

static int append_secret(sd_bus_message *reply, const char *session)
{
    static const unsigned char value[64];
    TRY(sd_bus_message_open_container(reply, 'r', "oayays"));
    TRY(sd_bus_message_append(reply, "o", session));
    TRY(sd_bus_message_append_array(reply, 'y', NULL, 0));
    TRY(sd_bus_message_append_array(reply, 'y', value, sizeof value));
    TRY(sd_bus_message_append(reply, "s", "text/plain"));
    return sd_bus_message_close_container(reply);
}

static int do_open_session(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *algorithm, *input;
    TRY(sd_bus_message_read(m, "sv", &algorithm, "s", &input));
    bytes_seen += strlen(algorithm) + strlen(input);
    return sd_bus_reply_method_return(m, "vo", "s", "", ANY_SESSION);
}

static int read_attributes(sd_bus_message *m)
{
    const char *key, *value;
    int r;
    TRY(sd_bus_message_enter_container(m, 'a', "{ss}"));
    while ((r = sd_bus_message_read(m, "{ss}", &key, &value)) > 0)
        bytes_seen += strlen(key) + strlen(value);
    TRY(r);
    return sd_bus_message_exit_container(m);
}

static int do_search(sd_bus_message *m, void *, sd_bus_error *)
{
    TRY(read_attributes(m));
    return sd_bus_reply_method_return(m, "aoao", 1, ANY_ITEM, 0);
}

static int do_search_nothing(sd_bus_message *m, void *, sd_bus_error *)
{
    TRY(read_attributes(m));
    return sd_bus_reply_method_return(m, "aoao", 0, 0);
}

static int do_get_secret(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *session;
    sd_bus_message *reply = NULL;
    TRY(sd_bus_message_read(m, "o", &session));
    TRY(sd_bus_message_new_method_return(m, &reply));
    return answer(reply, append_secret(reply, session));
}

static int append_secrets(sd_bus_message *reply, const char *item, const char *session)
{
    TRY(sd_bus_message_open_container(reply, 'a', "{o(oayays)}"));
    TRY(sd_bus_message_open_container(reply, 'e', "o(oayays)"));
    TRY(sd_bus_message_append(reply, "o", item));
    TRY(append_secret(reply, session));
    TRY(sd_bus_message_close_container(reply));
    return sd_bus_message_close_container(reply);
}

static int do_get_secrets(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *item, *session;
    sd_bus_message *reply = NULL;
    TRY(sd_bus_message_read(m, "aoo", 1, &item, &session));
    TRY(sd_bus_message_new_method_return(m, &reply));
    return answer(reply, append_secrets(reply, item, session));
}

const sd_bus_vtable secret_methods[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("OpenSession", "sv", "vo", do_open_session, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SearchItems", "a{ss}", "aoao", do_search, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SearchNothing", "a{ss}", "aoao", do_search_nothing, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetSecrets", "aoo", "a{o(oayays)}", do_get_secrets, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetSecret", "o", "(oayays)", do_get_secret, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};
