/* Item number i: about 150 bytes of attribute values and a secret of 64 bytes. */
#include "bench.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMENT "kept for the benchmark, of no other use"

static void append_text(sd_bus_message *m, const char *key, const char *value)
{
    must(sd_bus_message_append(m, "{sv}", key, "s", value), "append");
}

static void append_service(sd_bus_message *m, uint64_t service)
{
    char text[64];
    append_text(m, "Class", "generic-password");
    snprintf(text, sizeof text, "service-%" PRIu64, service);
    append_text(m, "Service", text);
}

static void append_key(sd_bus_message *m, uint64_t i)
{
    char text[64];
    append_service(m, i / ITEMS_OF_A_SERVICE);
    snprintf(text, sizeof text, "account-%" PRIu64, i);
    append_text(m, "Account", text);
}

void item_append_query(sd_bus_message *m, uint64_t i)
{
    must(sd_bus_message_open_container(m, 'a', "{sv}"), "append");
    append_key(m, i);
    must(sd_bus_message_close_container(m), "append");
}

void item_append_service_query(sd_bus_message *m)
{
    must(sd_bus_message_open_container(m, 'a', "{sv}"), "append");
    append_service(m, 0);
    must(sd_bus_message_close_container(m), "append");
}

void item_append_change(sd_bus_message *m)
{
    must(sd_bus_message_open_container(m, 'a', "{sv}"), "append");
    append_text(m, "Comment", COMMENT);
    must(sd_bus_message_close_container(m), "append");
}

void item_append_attributes(sd_bus_message *m, uint64_t i)
{
    char text[64];
    must(sd_bus_message_open_container(m, 'a', "{sv}"), "append");
    append_key(m, i);
    append_text(m, "Accessible", "after-first-unlock");
    snprintf(text, sizeof text, "Password of account %" PRIu64, i);
    append_text(m, "Label", text);
    append_text(m, "Description", "application password");
    append_text(m, "Comment", COMMENT);
    must(sd_bus_message_close_container(m), "append");
}

void item_secret(uint64_t i, unsigned char secret[SECRET_BYTES])
{
    for (unsigned k = 0; k < SECRET_BYTES; k++)
        secret[k] = (unsigned char)('!' + (i * 31 + k * 7) % 90);
}

void item_check_attributes(sd_bus_message *m, uint64_t i)
{
    char wanted[64];
    const char *key, *value;
    bool found = false;
    snprintf(wanted, sizeof wanted, "account-%" PRIu64, i);
    must(sd_bus_message_enter_container(m, 'a', "{sv}"), "a reply's attributes");
    while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
        must(sd_bus_message_read(m, "s", &key), "a reply's attributes");
        if (strcmp(key, "Account") != 0) {
            must(sd_bus_message_skip(m, "v"), "a reply's attributes");
        } else {
            must(sd_bus_message_read(m, "v", "s", &value), "a reply's account");
            found = strcmp(value, wanted) == 0;
        }
        must(sd_bus_message_exit_container(m), "a reply's attributes");
    }
    must(sd_bus_message_exit_container(m), "a reply's attributes");
    if (!found)
        die("a reply is not of the item that was asked for", 0, NULL);
}
