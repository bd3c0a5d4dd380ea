#include "cli/run/note.h"

#include <stdio.h>

#include "base/array.h"

/* The limit a verdict speaks of, what happened, and the option that moves it. */
static const struct {
    enum verdict verdict;
    enum limit_id limit;
    const char *what;
} rows[] = {
    { VERDICT_TIMEOUT, LIMIT_WALL_MS, "took longer than its" },
    { VERDICT_CPU_TIMEOUT, LIMIT_CPU_MS, "used up its CPU time of" },
    { VERDICT_MEMORY_LIMIT, LIMIT_MEMORY, "needed more memory than its" },
    { VERDICT_OUTPUT_LIMIT, LIMIT_OUTPUT, "printed more than its" },
    { VERDICT_PROCESS_LIMIT, LIMIT_PIDS, "failed after a process was refused beyond its" },
    { VERDICT_DISK_LIMIT, LIMIT_DISK, "failed with its disk full at" },
};

/* True when the verdict is about a limit. */
static bool say_limit(enum verdict verdict, const struct note *n)
{
    bool compiling = n->verdict == VERDICT_COMPILE_ERROR;
    char shown[32];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum limit_id id = rows[i].limit;
        if (rows[i].verdict != verdict)
            continue;
        if (id == LIMIT_DISK && !(n->hits & LIMIT_BIT(LIMIT_DISK)))
            id = LIMIT_FILES;
        const struct limit_def *d = &limit_defs[id];
        (void)fprintf(stderr, "belljar: %s: %s %s %s%s; --%s%s%s%s gives it more\n",
                      verdict_word(n->verdict), compiling ? "the compiler" : "it", rows[i].what,
                      unit_format(d->unit, n->limits.v[id], shown, sizeof shown),
                      id == LIMIT_PIDS    ? " processes"
                      : id == LIMIT_FILES ? " files"
                                          : "",
                      compiling ? "compile-limit " : "", d->option, compiling ? "=" : " ",
                      d->metavar);
        return true;
    }
    return false;
}

void note_print(const struct note *n)
{
    if (say_limit(n->verdict == VERDICT_COMPILE_ERROR ? n->compiler : n->verdict, n))
        return;
    if (n->verdict == VERDICT_INTERNAL_ERROR && n->install)
        (void)fprintf(stderr, "belljar: %s: '%s' installs it\n", n->error, n->install);
    else if (n->verdict == VERDICT_INTERNAL_ERROR)
        (void)fprintf(stderr, "belljar: %s\n", n->error);
    else if (n->verdict == VERDICT_REJECTED)
        (void)fprintf(stderr, "belljar: rejected: %s\n", n->error);
    else if (n->verdict == VERDICT_CANCELLED && !n->unheard)
        (void)fprintf(stderr, "belljar: cancelled\n");
}
