/* cli/repl/repl.h — a session of the service at the terminal. Runs in: main. */
#pragma once

#include "base/err.h"

/* As `belljar repl --session ID LANG`. Exit status, or -1. */
[[nodiscard]] int repl_attach(const char *language, const char *session, struct err *e);
