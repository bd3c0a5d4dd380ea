/* cli/confined.h — a command that shows answers of a service, among them texts of programs. main finds the
 * service, or starts a private one, and connects. A child with the uid and the confinement of a keeper
 * asks and prints. Runs in: main.
 *
 * Invariants
 * CONFINED-1 main reads no byte of an answer. */
#pragma once

#include "cli/repl/private_service.h"
#include "cli/service_choice.h"

struct confined {
    struct private_service service;
    struct service_choice at;
};
#define CONFINED_INIT                   \
    {                                   \
        .service = PRIVATE_SERVICE_INIT \
    }
void confined_done(struct confined *x);

/* The service that the caller chose. If none runs, or `local`, a private one. */
[[nodiscard]] int confined_find(struct confined *x, const struct service_choice *s, bool local,
                                struct err *e);

/* Exit status, or -1. */
typedef int confined_work(struct client *c, void *context, struct err *e);

/* Does the work in a child, and returns its exit status. A signal to this process ends the child: 130. */
[[nodiscard]] int confined_run(const struct confined *x, confined_work *work, void *context,
                               struct err *e);

/* Sends a request and calls `on_line` for each line of its answer. */
typedef int confined_on_line(void *context, const char *line, size_t len, struct err *e);
[[nodiscard]] int confined_lines(struct client *c, const char *path, const char *json,
                                 confined_on_line *on_line, void *context, struct err *e);
