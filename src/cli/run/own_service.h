/* cli/run/own_service.h — the service for runs that are more than one: stages, batches, comparisons, fixes.
 * Runs in: main.
 *
 * It is the running one. Without one, and for options that concern this machine (--mount, --isolation …),
 * it is a private one. The caller is the operator of that one: its settings allow as much as the options
 * ask for. */
#pragma once

#include "cli/confined.h"
#include "cli/repl/repl_mounts.h"
#include "cli/run/run_arguments.h"

struct own_service {
    struct repl_mounts mounts; /* borrowed names, except `roots` */
    char **set;                /* NULL-terminated */
};
void own_service_done(struct own_service *s);

/* Fills x, and the service of `o`. `more` are settings of a private service, NULL-terminated; NULL: none.
 * They are used as long as `s` lives. */
[[nodiscard]] int own_service_find(struct own_service *s, struct run_arguments *o,
                                   const char *const *more, struct confined *x, struct err *e);
