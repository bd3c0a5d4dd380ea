#include "jar/spares.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "jar/clone.h"
#include "jar/netns.h"

/* A guest has no right over its network namespace. It can leave only sockets that the kernel has
 * not freed yet, and counters of packets. These files show both. */
static const char *const tables[] = {
    "/proc/self/net/dev", "/proc/self/net/sockstat", "/proc/self/net/sockstat6",
    "/proc/self/net/snmp", "/proc/self/net/snmp6", "/proc/self/net/unix",
    /* entries live a minute longer than their last socket, and hold an address */
    "/proc/self/net/ip6_flowlabel",
    /* Not tcp, which walks a table of the whole machine: sockstat has the number. Not netstat,
     * whose counters move only with those of an interface. */
};

/* Some numbers in sockstat are of the whole machine: these are cut out. Returns the length of the
 * rest. */
static size_t forget_the_machine(char *text, size_t n)
{
    static const char *const words[] = { "orphan ", "alloc ", "mem ", "memory " };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *word = words[i];
        char *at = text;
        while ((at = memmem(at, n - (size_t)(at - text), word, strlen(word)))) {
            at += strlen(word);
            size_t digits = 0, left = n - (size_t)(at - text);
            while (digits < left && at[digits] >= '0' && at[digits] <= '9')
                digits++;
            memmove(at, at + digits, left - digits);
            n -= digits;
        }
    }
    return n;
}

/* The text of all tables in the current namespace; 0 when one cannot be read. */
static size_t read_tables(char out[SPARE_TEXT])
{
    size_t used = 0;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        autoclose int fd = open(tables[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
            continue; /* such as IPv6 on a machine without it */
        ssize_t n = fd >= 0 ? fd_read_full(fd, out + used, SPARE_TEXT - used) : -1;
        if (n < 0 || used + (size_t)n == SPARE_TEXT)
            return 0;
        used += strstr(tables[i], "sockstat") ? forget_the_machine(out + used, (size_t)n)
                                              : (size_t)n;
    }
    return used;
}

_Noreturn static void describe_new_net(int out_fd)
{
    static char text[SPARE_TEXT];
    struct err e;
    /* like a jar: in a new user namespace */
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 || netns_loopback_up(&e))
        _exit(1);
    size_t n = read_tables(text);
    _exit(n > 0 && fd_write_all(out_fd, text, n) == 0 ? 0 : 1);
}

void spares_keep(struct spares *s, int *own_net_fd)
{
    int ends[2], pidfd = -1;
    struct err ignored;
    siginfo_t info = { 0 };
    if (s->on)
        return;
    s->on = true;
    if (!netns_can_return(own_net_fd) || fd_pipe(ends, &ignored))
        return;
    autoclose int read_end = ends[0], write_end = ends[1];
    autofree char *text = malloc(SPARE_TEXT);
    pid_t pid = clone_process(0, -1, &pidfd, &ignored);
    if (pid == 0)
        describe_new_net(write_end);
    fd_close(&write_end);
    ssize_t n = text && pid > 0 ? fd_read_full(read_end, text, SPARE_TEXT) : -1;
    if (pid > 0 && waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) == 0 && info.si_status == 0 &&
        n > 0) {
        s->fresh = text;
        s->fresh_len = (size_t)n;
        text = NULL;
    }
    fd_close(&pidfd);
}

void spares_done(struct spares *s)
{
    while (s->n_nets > 0)
        fd_close(&s->nets[--s->n_nets]);
    while (s->n_cgroups > 0)
        (void)cgroup_remove(&s->cgroups[--s->n_cgroups]);
    free(s->fresh);
    s->fresh = NULL;
    s->on = false;
}

static bool is_like_new(const struct spares *s)
{
    char text[SPARE_TEXT];
    size_t n = read_tables(text);
    return n == s->fresh_len && memcmp(text, s->fresh, n) == 0;
}

int spares_enter_net(struct spares *s, int own_net_fd)
{
    bool away = false;
    while (s->fresh && s->n_nets > 0) {
        int fd = s->nets[--s->n_nets];
        bool entered = setns(fd, CLONE_NEWNET) == 0;
        if (entered && is_like_new(s)) {
            s->reused_nets++;
            return fd;
        }
        away = away || entered;
        (void)close(fd);
        s->dropped++;
    }
    if (away)
        netns_return(own_net_fd);
    return -1;
}

void spares_put_net(struct spares *s, int fd)
{
    if (s->on && s->fresh && s->n_nets < SPARES_MAX)
        s->nets[s->n_nets++] = fd;
    else
        (void)close(fd);
}

bool spares_take_cgroup(struct spares *s, struct reclaimer *u, const struct limits *limits,
                        unsigned spare_pids, struct cgroup *ret)
{
    while (s->n_cgroups > 0) {
        struct cgroup *c = &s->cgroups[--s->n_cgroups];
        if (cgroup_renew(c, limits, spare_pids)) {
            *ret = *c;
            s->reused_cgroups++;
            return true;
        }
        if (!reclaim_cgroup(u, c))
            (void)cgroup_remove(c);
        s->dropped++;
    }
    return false;
}

bool spares_put_cgroup(struct spares *s, struct cgroup *c)
{
    if (!s->on || c->host->version != 1 || s->n_cgroups == SPARES_MAX || c->hastened)
        return false;
    s->cgroups[s->n_cgroups++] = *c;
    return true;
}
