/* runtime/dropins.h — languages that are files in a directory. Runs in: main, supervisor, at their start.
 *
 * Invariants
 * R1 Only what root or we ourselves wrote, and nobody else could have, is read: a declaration names commands that are run.
 * R2 A bad file is a problem that is told, and keeps no other from being read. */
#pragma once

#include "base/err.h"
#include "runtime/language.h"

/* Where commands look, unless the environment names another; the service's setting is languages.dir. */
#define DROPINS_DIR "/etc/belljar/languages.d"
#define DROPINS_ENV "BELLJAR_LANGUAGES"

enum { DROPINS_FILES_MAX = 256 };

struct dropins {
    struct language *languages[DROPINS_FILES_MAX];
    size_t n;
    char *problems[DROPINS_FILES_MAX];
    size_t n_problems;
};
void dropins_done(struct dropins *d);

/* Every NAME.lang of the directory, by name. Fails only when the directory cannot be used. */
[[nodiscard]] int dropins_read(const char *dir, struct dropins *ret, struct err *e);
/* Adds "what went wrong". */
void dropins_problem(struct dropins *d, const struct err *why);
