/* allowlist/allowlist.h — from the names of commands to the files that a shell in a jar needs to start them.
 * Runs in: keeper; allowlist_check() also in the CLI's main. Reads the machine's own programs; changes nothing.
 *
 * Invariants
 * A1 What may be executed is: the shell, the programs that were named, their loader; and directories of programs' own
 *    helpers where a row of companions.c says so. Nothing is added because something else would like to start it.
 * A2 What may be read beyond that is libraries, and directories that a row of companions.c names.
 * A3 All paths are of the form that spec/listed.h accepts, and lead through no link. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"
#include "spec/isolation.h"

struct allowlist {
    char **executes; /* to execute and read; NULL-terminated, as the next */
    char **reads;
    bool own_code; /* one of them makes machine code while it runs, and cannot do without */
};
void allowlist_done(struct allowlist *c);

/* Whether a list makes sense at all for this language, where it is to run. isolation: NULL where it is not known yet. */
[[nodiscard]] int allowlist_possible(const struct language *l, const struct isolation *isolation,
                                     bool writable_root, struct err *e);
/* That each is the name of a command of this machine, or of something that shells do themselves. */
[[nodiscard]] int allowlist_check(char *const *names, struct err *e);
/* The files. shell: the absolute path of the shell, which is always among them. */
[[nodiscard]] int allowlist_resolve(const char *shell, char *const *names, struct allowlist *ret,
                                    struct err *e);

/* A list that was resolved a moment ago: all runs of a batch have the same one, and the loop waits for each look at the disk. */
struct allowlist_memo {
    struct buf list; /* the shell and the names, each with its NUL */
    uint64_t at_ms;
    uint64_t since_ms; /* of the second that is counted */
    unsigned looks;    /* in it */
};
void allowlist_memo_done(struct allowlist_memo *m);
/* Whether the list can be resolved; what was found out less than a second ago is believed. Of more than a few different lists in
 * a second only the names are checked: what else is wrong with them shows when the run starts. */
[[nodiscard]] int allowlist_usable(struct allowlist_memo *m, const char *shell, char *const *names,
                                   struct err *e);
