/* jar/spares.h — parts of finished jars that later jars use again: network namespaces and cgroups.
 * They cost more to make than everything else together.
 * Runs in: warden. Never logs.
 *
 * Invariants
 * SPARES-1 Every process of the former jar is dead. A part is examined when it is taken, and used
 *    only if it reads like a new one: all counters and tables of sockets of a network namespace;
 *    processes, memory and counters of a cgroup.
 * SPARES-2 A part that differs from a new one is dropped. Nothing is cleaned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "jar/cgroup.h"
#include "jar/reclaim.h"

enum { SPARES_MAX = 64, SPARE_TEXT = 16 << 10 };

struct spares {
    bool on; /* false: no part is kept */
    int nets[SPARES_MAX];
    size_t n_nets;
    struct cgroup cgroups[SPARES_MAX];
    size_t n_cgroups;
    /* the text of a new network namespace; NULL: not known, so none is used again */
    char *fresh;
    size_t fresh_len;
    uint64_t reused_nets, reused_cgroups, dropped; /* counts, for tests */
};

/* Starts to keep parts. Reads a new network namespace to compare with; if the caller may not make
 * one, only cgroups are kept. *own_net_fd, the caller's own network namespace, may be replaced. */
void spares_keep(struct spares *s, int *own_net_fd);
/* Closes and removes all of them and stops keeping parts. */
void spares_done(struct spares *s);

/* Moves the caller into a spare namespace, to clone the init of a jar there; netns_return()
 * goes back. Returns its descriptor, which the caller closes. -1 when there is none: the caller has
 * not moved. */
int spares_enter_net(struct spares *s, int own_net_fd);
/* Takes ownership of the descriptor. */
void spares_put_net(struct spares *s, int fd);

/* False when no spare reads like a new one. The reclaimer may take a spare
 * that does not. */
bool spares_take_cgroup(struct spares *s, struct reclaimer *u, const struct limits *limits,
                        unsigned spare_pids, struct cgroup *ret);
/* True: the spares own it now. */
bool spares_put_cgroup(struct spares *s, struct cgroup *c);
