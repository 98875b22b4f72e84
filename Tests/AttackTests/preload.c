/* Code that is loaded into an entitled program: before that program does anything, it calls the broker and
 * says how the call ended. */

#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

__attribute__((constructor)) static void borrow(void)
{
    const char *group = getenv("ATTACK_GROUP"), *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus *bus = NULL;

    if (!group || !address)
        return;
    if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, address) < 0 || sd_bus_set_bus_client(bus, 1) < 0
        || sd_bus_start(bus) < 0) {
        puts("no-bus");
        exit(1);
    }
    int result = sd_bus_call_method(bus, "org.chatelaine.Broker1", "/org/chatelaine/Broker1",
        "org.chatelaine.Broker1.Items", "Search", &error, NULL, "a{sv}", 2, "Class", "s", "generic-password",
        "AccessGroup", "s", group);
    puts(result >= 0 ? "preloaded:ok" : error.name);
    fflush(stdout);
    _exit(0);
}
