/* Attempts of a guest that no socket of ours sees: to reach an address without a route, or a port where nobody
 * listens. The kernel of the jar refuses them, and counts them for each network namespace. Runs in: porter. */
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
static uint64_t read_column(const char *text, const char *protocol, const char *column)
{
    char head[16], word[32];
    (void)snprintf(head, sizeof head, "\n%s: ", protocol);
    (void)snprintf(word, sizeof word, " %s ", column);
    const char *names = strstr(text, head), *numbers = names ? strstr(names + 1, head) : NULL;
    const char *name = names ? strstr(names, word) : NULL;
    if (!numbers || !name || name > numbers)
        return 0;
    const char *at = numbers + strlen(head) - 1; /* the space before the first number */
    for (const char *p = names + strlen(head) - 1; p < name && at; p++)
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

/* TCP has one count for IPv4 and IPv6. */
static void add_counters(int fd, bool ipv6, struct attempts *to)
{
    static char text[FILE_BYTES];
    ssize_t n = fd >= 0 ? pread(fd, text + 1, sizeof text - 2, 0) : 0;
    text[0] = '\n'; /* before each line */
    text[n > 0 ? n + 1 : 0] = '\0';
    to->unrouted += ipv6 ? read_line(text) : read_column(text, "Ip", "OutNoRoutes");
    to->refused += ipv6 ? 0 : read_column(text, "Tcp", "AttemptFails");
}

/* It came from a keeper, which may have been taken over: no read of it waits, because pread() refuses pipes and
 * sockets, and files do not wait with O_NONBLOCK. A namespace of a session may have had counts before; others
 * begin at zero, and to read them there would cost as much as all listeners. */
void unrouted_take(struct net *r, bool ipv6, int fd, bool used)
{
    struct err ignored;
    if (r->counters[ipv6] >= 0 || fd_set_nonblock(fd, &ignored)) {
        (void)close(fd);
        return;
    }
    r->counters[ipv6] = fd;
    if (used)
        add_counters(fd, ipv6, &r->attempts);
}

static uint64_t since(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

struct attempts unrouted_count(struct net *r)
{
    struct attempts now = { 0 }, before = r->attempts;
    add_counters(r->counters[0], false, &now);
    add_counters(r->counters[1], true, &now);
    r->attempts = now;
    return (struct attempts){ .unrouted = since(before.unrouted, now.unrouted),
                              .refused = since(before.refused, now.refused) };
}

void unrouted_close(struct net *r)
{
    fd_close(&r->counters[0]);
    fd_close(&r->counters[1]);
}
