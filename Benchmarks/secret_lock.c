/* bench lock: how many signals tell a client that a collection was locked, and unlocked. */
#include "bench.h"
#include <stdio.h>
#include <string.h>

#define PROMPT "org.freedesktop.Secret.Prompt"

static struct {
    const char *below;
    unsigned signals;
    bool completed, dismissed;
} heard;

static int on_message(sd_bus_message *m, void *, sd_bus_error *)
{
    const char *path = sd_bus_message_get_path(m);
    int dismissed;
    if (!sd_bus_message_is_signal(m, NULL, NULL) || !path || strncmp(path, heard.below, strlen(heard.below)) != 0)
        return 0;
    heard.signals++;
    if (sd_bus_message_is_signal(m, PROMPT, "Completed")) {
        must(sd_bus_message_read(m, "b", &dismissed), "Completed");
        heard.completed = true;
        heard.dismissed = dismissed;
    }
    return 0;
}

static void listen(sd_bus *bus, const struct service *service)
{
    char rule[256];
    heard.below = service->path;
    snprintf(rule, sizeof rule, "type='signal',sender='%s',path_namespace='%s'", service->name, service->path);
    must(sd_bus_add_match(bus, NULL, rule, NULL, NULL), "match");
    must(sd_bus_add_filter(bus, NULL, on_message, NULL), "filter");
}

/* What was sent before the answer to this is there afterwards. Ping would not do: in gnome-keyring a thread answers it
 * that overtakes the signals. */
static void hear(sd_bus *bus, const struct service *service)
{
    sd_bus_message *m = NULL;
    int r;
    must(sd_bus_message_new_method_call(bus, &m, service->name, service->path, service->front, "ReadAlias"),
         "ReadAlias");
    must(sd_bus_message_append(m, "s", "default"), "append");
    sd_bus_message_unref(call_send(bus, m, "ReadAlias"));
    while ((r = sd_bus_process(bus, NULL)) > 0)
        ;
    must(r, "process");
}

/* Lock or Unlock of the collection; `prompt` gets the path of the prompt, or "/". */
static void call_about(const struct front_session *s, const struct service *service, const char *member,
                       char prompt[PATH_BYTES])
{
    const char *path;
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(s->bus, &m, service->name, service->path, service->front, member), member);
    must(sd_bus_message_append(m, "ao", 1, service->collection), "append");
    sd_bus_message *reply = call_send(s->bus, m, member);
    must(sd_bus_message_skip(reply, "ao"), member);
    must(sd_bus_message_read(reply, "o", &path), member);
    snprintf(prompt, PATH_BYTES, "%s", path);
    sd_bus_message_unref(reply);
}

static void perform(sd_bus *bus, const struct service *service, const char *prompt)
{
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(bus, &m, service->name, prompt, PROMPT, "Prompt"), "Prompt");
    must(sd_bus_message_append(m, "s", ""), "append");
    sd_bus_message_unref(call_send(bus, m, "Prompt"));
    while (!heard.completed) {
        int r = sd_bus_process(bus, NULL);
        must(r, "process");
        if (r == 0)
            must(sd_bus_wait(bus, CALL_TIMEOUT_US), "Completed");
    }
    if (heard.dismissed)
        die("the prompt was dismissed", 0, NULL);
}

/* gnome-keyring's Unlock asks a person; its own programs have this call. */
static void unlock_gnome(const struct front_session *s, const struct service *service)
{
    static const char password[] = "bench";
    sd_bus_message *m = NULL;
    must(sd_bus_message_new_method_call(s->bus, &m, service->name, service->path,
                                        "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
                                        "UnlockWithMasterPassword"), "unlock");
    must(sd_bus_message_append(m, "o", service->collection), "append");
    must(sd_bus_message_open_container(m, 'r', "oayays"), "append");
    must(sd_bus_message_append(m, "o", s->path), "append");
    must(sd_bus_message_append_array(m, 'y', NULL, 0), "append");
    must(sd_bus_message_append_array(m, 'y', password, sizeof password - 1), "append");
    must(sd_bus_message_append(m, "s", "text/plain"), "append");
    must(sd_bus_message_close_container(m), "append");
    sd_bus_message_unref(call_send(s->bus, m, "unlock"));
}

static void unlock(const struct front_session *s, const struct service *service)
{
    char prompt[PATH_BYTES];
    if (service == &gnome) {
        unlock_gnome(s, service);
        return;
    }
    call_about(s, service, "Unlock", prompt);
    perform(s->bus, service, prompt);
}

int lock_main(int argc, char **argv)
{
    char prompt[PATH_BYTES];
    struct front_session s;
    const struct service *service = argc == 2 ? service_named(argv[1], true) : NULL;
    if (!service || !service->front || !service->real)
        die("lock: secrets or gnome", 0, NULL);
    front_open(&s, service);
    listen(s.bus, service);
    call_about(&s, service, "Lock", prompt);
    hear(s.bus, service);
    unsigned locking = heard.signals;
    unlock(&s, service);
    hear(s.bus, service);
    printf("{\"lock\":%u,\"unlock\":%u}\n", locking, heard.signals - locking);
    return 0;
}
