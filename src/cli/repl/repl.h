/* cli/repl/repl.h — a session of the service at the terminal. Runs in: main. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "cli/service_choice.h"
#include "runtime/language.h"
#include "spec/limit.h"

/* As `belljar repl --session ID LANG`. Exit status, or -1. */
[[nodiscard]] int repl_attach(const char *language, const char *session,
                              const struct service_choice *service, struct err *e);

struct repl_notebook {
    const char *path;
    const struct language *language; /* NULL: as the notebook says */
    struct limits limits;
    limit_set given;
    char **allow_net; /* borrowed; NULL: none */
    const struct service_choice *service;
    bool local;
};
/* Runs the code cells of a notebook in a new session, up to the first one that fails. Exit status,
 * or -1. */
[[nodiscard]] int repl_run_notebook(const struct repl_notebook *job, struct err *e);
