/* What the parts of the bench client share. A failure ends the process with one line on stderr (die). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#define SECRET_BYTES 64u
#define NONCE_BYTES 12u
#define SEALED_BYTES (SECRET_BYTES + 16u)
#define KEY_BYTES 32u
#define CALL_TIMEOUT_US (120ull * 1000000ull)

/* A D-Bus service with the methods of org.chatelaine.Broker1.Items: the broker, over the bus or over its direct
 * endpoint, or the echo. Or one with those of org.freedesktop.secrets: the broker's, gnome-keyring's, or the echo's.
 * The echo has all its methods on one interface. */
struct service {
    const char *word, *name, *path, *items, *refresh, *subscriptions;
    const char *address; /* the environment's variable that has it */
    /* Interfaces of a service of org.freedesktop.secrets and of its items, and a path; null for the others. */
    const char *front, *front_item, *collection;
    bool plain; /* its secrets go as they are, in the session that every direct connection has */
    bool real; /* its replies are of the item that was asked for, and its secrets can be opened */
    bool numbered; /* on its front the path of item i ends in i + 1 */
};
extern const struct service broker, direct, plain, echo;
extern const struct service secrets, gnome, secrets_echo;

/* ---- session.c: one end of x25519-hkdf-sha256-chacha20poly1305, or of a plain session ---- */
struct session {
    bool plain;
    char path[128];
    unsigned char send_key[KEY_BYTES], receive_key[KEY_BYTES];
    uint64_t sent, received;
};
void session_open(struct session *s, sd_bus *bus, const struct service *service);
void session_append_secret(struct session *s, sd_bus_message *m, const unsigned char secret[SECRET_BYTES]);
/* Reads `(oayay)`, checks lengths and that the nonce grew; opens it into `secret` unless that is null. */
void session_read_secret(struct session *s, sd_bus_message *m, unsigned char secret[SECRET_BYTES]);

/* ---- items.c: what item number i is ---- */
#define GROUP "bench.items"
#define ITEMS_OF_A_SERVICE 50u
/* Matches items 0 to ITEMS_OF_A_SERVICE - 1. */
void item_append_service_query(sd_bus_message *m);
/* An `a{sv}` that gives an item what it has already. */
void item_append_change(sd_bus_message *m);
void item_append_attributes(sd_bus_message *m, uint64_t i);
void item_append_query(sd_bus_message *m, uint64_t i);
void item_secret(uint64_t i, unsigned char secret[SECRET_BYTES]);
/* Reads an `a{sv}` and ends the process unless its account is that of item i. */
void item_check_attributes(sd_bus_message *m, uint64_t i);

/* ---- secrets.c: services of org.freedesktop.secrets, whose sessions here are all plain ---- */
#define PATH_BYTES 128u
#define NO_ITEM 900000000u /* from here on: numbers that no item has */
struct front_session {
    sd_bus *bus;
    char path[PATH_BYTES];
};
/* Connects, and opens a session. */
void front_open(struct front_session *s, const struct service *service);
void front_append_attributes(sd_bus_message *m, uint64_t i);
/* What CreateItem takes. */
void front_append_item(const struct front_session *s, sd_bus_message *m, uint64_t i);
/* Learns the paths of items 0 .. items-1, for this process and those that it forks; ends the process where one is
 * missing. */
void front_find_items(const struct service *service, uint64_t items);
const char *front_item_path(const struct service *service, uint64_t i);

/* ---- client.c: one connection, with a session on each service it uses ---- */
struct rows;
struct client {
    sd_bus *bus, *direct_bus;
    struct session broker_session, direct_session, plain_session, echo_session;
    struct front_session secrets_session, gnome_session, secrets_echo_session;
    struct rows *rows;
    uint64_t items;     /* 0 .. items-1 are stored */
    uint64_t first_new; /* number of the first item that this client may add */
    uint64_t added, random, reads, verified;
};
/* To the bus of the broker and the echo; to the one that a service is on. */
sd_bus *bus_connect(void);
sd_bus *service_connect(const struct service *service);
/* Connects to the direct endpoint, which has no bus. */
sd_bus *direct_connect(void);
sd_bus *client_bus(struct client *c, const struct service *service);
/* A call on any interface, and one on `.Items`. */
sd_bus_message *call_on(sd_bus *bus, const struct service *service, const char *interface, const char *member);
sd_bus_message *call_new(sd_bus *bus, const struct service *service, const char *member);
/* Sends and frees `m`; returns the reply. */
sd_bus_message *call_send(sd_bus *bus, sd_bus_message *m, const char *member);
struct session *client_session(struct client *c, const struct service *service);
struct front_session *client_front(struct client *c, const struct service *service);
uint64_t client_pick(struct client *c);
uint64_t client_next_new(struct client *c);

/* Replies are opened and compared this often: at each call it would slow the client down by more than some services
 * differ. */
#define VERIFY_EVERY 64u

/* ---- operations.c ---- */
struct operation {
    const char *word;
    uint64_t (*run)(struct client *c, const struct service *service); /* nanoseconds */
    bool front; /* a call of org.freedesktop.secrets */
};
const struct operation *operation_named(const char *word);
/* Lets the echo answer with the very attributes the broker answers with; says how many and how large. */
void echo_take_shape(sd_bus *bus, bool from_broker, unsigned *entries, size_t *bytes);

/* ---- secret_operations.c: the same of org.freedesktop.secrets ---- */
uint64_t front_get_secret(struct client *c, const struct service *service);
uint64_t front_search(struct client *c, const struct service *service);
uint64_t front_miss(struct client *c, const struct service *service);
uint64_t front_look_up(struct client *c, const struct service *service);
uint64_t front_visit(struct client *c, const struct service *service);

/* ---- rows.c: bare SQLite commits ---- */
struct rows *rows_open(const char *folder);
uint64_t rows_commit(struct client *c, const struct service *none);

/* ---- lanes.c: what alternates in one run ---- */
#define LANES_MAX 16
#define CLIENTS_MAX 64
#define ROUNDS_MAX 128
#define SAMPLES_MAX (1u << 19)
struct action {
    const struct service *service; /* null for SQLite */
    const struct operation *operation;
};
struct lane {
    const char *word;
    struct action action, beside; /* beside: what one more client does meanwhile, if anything */
    unsigned clients;
};
struct lane lane_parse(const char *word);
/* Ends the process where none has the name; `front`: the echo's, where it is the echo, is that of its front. */
const struct service *service_named(const char *word, bool front);

/* ---- statistics.c ---- */
/* The times of one client in one lane: round r has calls[r] of them, its samples end at mark[r + 1] in ns[].
 * A call of more than 4 seconds counts as one of 4. */
struct record {
    uint64_t calls[ROUNDS_MAX], mark[ROUNDS_MAX + 1], verified;
    uint32_t ns[SAMPLES_MAX];
};
struct slice {
    uint64_t start[CLIENTS_MAX + 1], end[CLIENTS_MAX + 1];
    uint64_t wall_ns, cpu_ns;
};
/* Prints one lane as a JSON object; records has a stride of one record a client, the beside client last. */
void lane_print(const struct lane *lane, const struct record *records, unsigned clients_all,
                const struct slice *slices, unsigned rounds);

/* ---- signals.c and listeners.c: a change, and who is told of it ---- */
#define LISTENERS_MAX 32u
/* What a process of subscribers is told before a change: whose signals come, and how many to each connection. */
struct awaited {
    uint32_t from_broker, signals;
};
/* Its answer, when each of its connections has had them all: how many they were, and when the last was read. */
struct heard {
    uint64_t signals, last_ns;
};

/* ---- the commands ---- */
int signals_main(int argc, char **argv);
int listen_main(int argc, char **argv);
int measure_main(int argc, char **argv);
int fill_main(int argc, char **argv);
int lock_main(int argc, char **argv);
int start_main(int argc, char **argv);
int wait_main(int argc, char **argv);
int owner_main(int argc, char **argv);

uint64_t now_ns(void);
/* The processor time of a process; 0 for process 0. */
uint64_t cpu_ns(pid_t pid);
_Noreturn void die(const char *what, int error, const sd_bus_error *e);
/* From now on a child that fails, and has said why, ends this process too: the others would wait for it for ever. */
void end_with_children(void);
/* For sd-bus calls that can only fail for want of memory or by a bug here. */
void must(int r, const char *what);
/* Zeroed, and shared with the processes forked later; takes real memory only where it is written. */
void *shared_memory(size_t bytes);
uint64_t number_option(const char *text, uint64_t max);
