/* What the parts of the echo service share. */
#pragma once
#include <stdint.h>
#include <systemd/sd-bus.h>

#define NAME "org.chatelaine.Echoes1"
#define PATH "/org/chatelaine/Echoes1"

/* Ends the method with sd-bus's own error where a step fails. */
#define TRY(step)                      \
    do {                               \
        int try_result = (step);       \
        if (try_result < 0)            \
            return try_result;         \
    } while (0)

/* Sends and frees the reply, or frees it alone where r says that it could not be made. */
int answer(sd_bus_message *reply, int r);

/* ---- echo_secrets.c: the shapes of org.freedesktop.secrets, at all paths below PATH/secrets ---- */
extern const sd_bus_vtable secret_methods[];
