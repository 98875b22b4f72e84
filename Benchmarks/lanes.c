/* Reading SERVICE:OPERATION[@CLIENTS][+SERVICE:OPERATION]. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct service *service_named(const char *word, bool front)
{
    if (!strcmp(word, "broker"))
        return &broker;
    if (!strcmp(word, "direct"))
        return &direct;
    if (!strcmp(word, "plain"))
        return &plain;
    if (!strcmp(word, "echo"))
        return front ? &secrets_echo : &echo;
    if (!strcmp(word, "secrets"))
        return &secrets;
    if (!strcmp(word, "gnome"))
        return &gnome;
    if (strcmp(word, "sqlite") != 0)
        die("a service is none of broker, direct, plain, secrets, gnome, echo and sqlite", 0, NULL);
    return NULL;
}

static struct action action_parse(char *word)
{
    char *colon = strchr(word, ':');
    if (!colon)
        die("a lane is SERVICE:OPERATION[@CLIENTS][+SERVICE:OPERATION]", 0, NULL);
    *colon = 0;
    const struct operation *operation = operation_named(colon + 1);
    if (!operation)
        die("a lane has no such operation", 0, NULL);
    struct action a = {service_named(word, operation->front), operation};
    bool front = a.service && a.service->front;
    if (front != operation->front || (operation->run == rows_commit) != (a.service == NULL))
        die("a lane's service has no such operation", 0, NULL);
    return a;
}

struct lane lane_parse(const char *word)
{
    char copy[128];
    struct lane lane = {.word = word, .clients = 1};
    if ((size_t)snprintf(copy, sizeof copy, "%s", word) >= sizeof copy)
        die("a lane's name is too long", 0, NULL);
    char *plus = strchr(copy, '+');
    if (plus) {
        *plus = 0;
        lane.beside = action_parse(plus + 1);
    }
    char *at = strchr(copy, '@');
    if (at) {
        *at = 0;
        lane.clients = (unsigned)number_option(at + 1, CLIENTS_MAX);
    }
    lane.action = action_parse(copy);
    if (lane.clients < 1 || (!lane.action.service && lane.clients > 1))
        die("a lane has at least one client, and sqlite's just one", 0, NULL);
    return lane;
}
