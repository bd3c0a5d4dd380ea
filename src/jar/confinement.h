/* jar/confinement.h — the rights that our own processes give up. Runs in: the process itself, before
 * it reads a byte of a stranger.
 * Each process that parses such bytes is confined, so that a mistake in a parser gives an attacker
 * no more than the table of confinement.c leaves to that role.
 *
 * Invariants
 * CONFINE-1 The table is the only place that says which layers a role has. A process that cannot
 *    have a layer of its row does not start, unless the kernel does not know that layer at all:
 *    `belljar doctor` reports that.
 * CONFINE-2 A build with the address sanitizer has no filters on our own processes: its search for
 *    leaks attaches to the process with ptrace, which the filters deny. */
#pragma once

#include "base/err.h"
#include "jar/landlock.h"

enum role {
    ROLE_COMMAND_KEEPER, /* of `belljar run` with a warden of its own */
    ROLE_CLIENT_KEEPER,  /* of `belljar run` with a service */
    ROLE_SERVICE_KEEPER,
    ROLE_PORTER,
    ROLE_INJECTOR_PARENT,
    ROLE_INJECTOR,   /* a child of it: confinement_narrow() */
    ROLE_SUPERVISOR, /* it needs the rights of the operator: only rare calls are gone */
    ROLE_WARDEN,     /* the same with the rights to build jars */
    ROLE_ZYGOTE,
    ROLE_COUNT_,
};

/* An empty network namespace, if this process may have one: sockets that are open go on working, and
 * nothing else can be reached. Needs root's rights, so it is the first step. A process without them
 * has only the filter and Landlock against connections. */
[[nodiscard]] int confinement_leave_network(struct err *e);

/* The last step: files, executable memory, system calls. `more` adds rules for files to those of the
 * table; a row with a NULL path ends it, NULL means none. Sets no_new_privs. The caller has no
 * thread. */
[[nodiscard]] int confinement_enter(enum role role, const struct landlock_rule *more,
                                    struct err *e);

/* A fork of a confined process takes a narrower filter. */
[[nodiscard]] int confinement_narrow(enum role role, struct err *e);

/* For `belljar doctor`: the layers of a keeper that this process would start. */
struct confinement_layer {
    const char *name, *what;
    bool available;
};
enum { CONFINEMENT_LAYERS = 4 };
void confinement_layers(struct confinement_layer ret[CONFINEMENT_LAYERS]);
