/* jar/spares.h — parts of jars that are gone, kept for jars to come: network namespaces and cgroups, which cost more to make
 * than everything else together.
 * Runs in: warden. Never logs.
 *
 * Invariants
 * S1 A part is looked at when it is taken, with every process of its former jar dead, and used only if it reads like a
 *    new one: of a network namespace every counter and every table of sockets, of a cgroup processes, memory, counters.
 * S2 What does not is dropped; nothing is cleaned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "jar/cgroup.h"

enum { SPARES_MAX = 64, SPARE_TEXT = 16 << 10 };

struct spares {
    bool on; /* else nothing is kept: a jar that is gone leaves nothing at all */
    int nets[SPARES_MAX];
    size_t n_nets;
    struct cgroup cgroups[SPARES_MAX];
    size_t n_cgroups;
    /* what a new network namespace reads like; NULL: not known, so none is used again */
    char *fresh;
    size_t fresh_len;
    uint64_t reused_nets, reused_cgroups, dropped; /* for whoever wants to know */
};

/* From now on they are kept. Finds out what a new network namespace reads like; without that (no right to make one) none of
 * those is. *own_net_fd, the caller's own network namespace, may become another. */
void spares_keep(struct spares *s, int *own_net_fd);
/* Closes and removes them; none is kept from now on. */
void spares_done(struct spares *s);

/* Moves the caller into one, to clone a jar's init there, and returns its descriptor, which is the caller's to close;
 * spares_leave_net() goes back. -1 when there is none: the caller is in its own. */
int spares_enter_net(struct spares *s, int own_net_fd);
void spares_leave_net(int own_net_fd);
/* Takes the descriptor over. */
void spares_put_net(struct spares *s, int fd);

/* False when there is none that is as good as new. */
bool spares_take_cgroup(struct spares *s, const struct limits *limits, unsigned spare_pids,
                        struct cgroup *ret);
/* True when it was taken over. */
bool spares_put_cgroup(struct spares *s, struct cgroup *c);
