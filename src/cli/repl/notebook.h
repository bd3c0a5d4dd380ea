/* cli/repl/notebook.h — the code cells of a Jupyter notebook. Runs in: main; the file is the
 * caller's own. */
#pragma once

#include "base/err.h"
#include "base/strv.h"
#include "runtime/language.h"

struct notebook {
    const struct language *language;
    char **cells; /* NULL-terminated; without empty cells */
};

/* NAME.ipynb is a notebook. */
bool notebook_is(const char *path);
[[nodiscard]] int notebook_read(const char *path, const struct language *wanted,
                                struct notebook *ret, struct err *e);
void notebook_done(struct notebook *n);
