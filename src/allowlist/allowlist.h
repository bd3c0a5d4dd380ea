/* allowlist/allowlist.h — from the names of commands to the files that a shell in a jar needs to
 * start them. Runs in: keeper; allowlist_check() also in the CLI's main. Reads the machine's own
 * programs; changes nothing.
 *
 * Invariants
 * ALLOWLIST-1 Executable are only the shell, the named programs, their loader, and directories of
 *             helpers that a row of companions.c names. No file is added because another program
 *             might start it.
 * ALLOWLIST-2 Readable beyond that are only libraries, and directories that a row of companions.c
 *             names.
 * ALLOWLIST-3 All paths have the form that spec/listed.h accepts and contain no link. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"
#include "spec/isolation.h"

struct allowlist {
    char **executes; /* to execute and read; NULL-terminated, like the next list */
    char **reads;
    bool own_code; /* one of the programs needs to generate machine code */
};
void allowlist_done(struct allowlist *c);

/* Checks that the language and the isolation support a list. isolation: NULL if it is not known
 * yet. */
[[nodiscard]] int allowlist_possible(const struct language *l, const struct isolation *isolation,
                                     bool writable_root, struct err *e);
/* Checks that each name is a command of this machine or built into shells. */
[[nodiscard]] int allowlist_check(char *const *names, struct err *e);
/* Finds the files. shell: the absolute path of the shell, which is always among them. */
[[nodiscard]] int allowlist_resolve(const char *shell, char *const *names, struct allowlist *ret,
                                    struct err *e);

/* A list that was just resolved. All runs of a batch have the same list, and the loop waits for
 * each access to the disk. */
struct allowlist_memo {
    struct buf list; /* the shell and the names, each with its NUL */
    uint64_t at_ms;
    uint64_t since_ms; /* start of the current second */
    unsigned looks;    /* lookups in it */
};
void allowlist_memo_done(struct allowlist_memo *m);
/* Checks that the list can be resolved; a result less than a second old is reused. After a few
 * different lists in one second only the names are checked. Other errors of these lists appear when
 * the run starts. */
[[nodiscard]] int allowlist_usable(struct allowlist_memo *m, const char *shell, char *const *names,
                                   struct err *e);
