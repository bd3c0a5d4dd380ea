/* Attempts of a guest to reach an address without a route. The kernel of the jar refuses them, so that no
 * socket of ours sees one, but it counts them for each network namespace. Runs in: porter. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "porter/porter_impl.h"

enum { FILE_BYTES = 16 << 10 };

/* /proc/net/snmp has a line of names and a line of numbers: "Ip: ... OutNoRoutes ...". */
static uint64_t read_column(const char *text)
{
    const char *names = strstr(text, "Ip: "), *numbers = names ? strstr(names + 1, "\nIp: ") : NULL;
    const char *name = names ? strstr(names, " OutNoRoutes ") : NULL;
    if (!numbers || !name || name > numbers)
        return 0;
    const char *at = numbers + 4; /* the space before the first number */
    for (const char *p = names + 3; p < name && at; p++)
        if (*p == ' ')
            at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* /proc/net/snmp6 has a line for each. */
static uint64_t read_line(const char *text)
{
    static const char name[] = "\nIp6OutNoRoutes";
    const char *at = strstr(text, name);
    return at ? strtoull(at + sizeof name - 1, NULL, 10) : 0;
}

static uint64_t read_counters(int fd, bool ipv6)
{
    static char text[FILE_BYTES];
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : 0;
    text[n > 0 ? n : 0] = '\0';
    return ipv6 ? read_line(text) : read_column(text);
}

/* It came from a keeper, which may have been taken over: no read of it waits, because pread() refuses pipes and
 * sockets, and files do not wait with O_NONBLOCK. A namespace of a session had counts before. */
void unrouted_take(struct net *r, bool ipv6, int fd)
{
    struct err ignored;
    if (r->counters[ipv6] >= 0 || fd_set_nonblock(fd, &ignored)) {
        (void)close(fd);
        return;
    }
    r->counters[ipv6] = fd;
    r->unrouted += read_counters(fd, ipv6);
}

uint64_t unrouted_count(struct net *r)
{
    uint64_t before = r->unrouted;
    uint64_t now = read_counters(r->counters[0], false) + read_counters(r->counters[1], true);
    r->unrouted = now;
    return now > before ? now - before : 0;
}

void unrouted_close(struct net *r)
{
    fd_close(&r->counters[0]);
    fd_close(&r->counters[1]);
}
