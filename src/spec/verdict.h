/* spec/verdict.h — how a run ended, in the words of every surface.
 * Runs in: keeper; pure functions.
 * VERDICT-1 The evidence comes from outside the jar (wait status, cgroup counters, deadlines,
 *    counted bytes): no output of the program can change a verdict. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/limit.h"

/* id, word, exit status of the command line (-1: the program's own), the limit that was met */
#define VERDICT_TABLE(X)                                                    \
    X(VERDICT_OK,             "ok",             -1,  LIMIT_NONE)            \
    X(VERDICT_RUNTIME_ERROR,  "runtime_error",  -1,  LIMIT_NONE)            \
    X(VERDICT_COMPILE_ERROR,  "compile_error",  -1,  LIMIT_NONE)            \
    X(VERDICT_TIMEOUT,        "timeout",        124, LIMIT_WALL_MS)         \
    X(VERDICT_CPU_TIMEOUT,    "cpu_timeout",    124, LIMIT_CPU_MS)          \
    X(VERDICT_MEMORY_LIMIT,   "memory_limit",   137, LIMIT_MEMORY)          \
    X(VERDICT_OUTPUT_LIMIT,   "output_limit",   153, LIMIT_OUTPUT)          \
    X(VERDICT_PROCESS_LIMIT,  "process_limit",  -1,  LIMIT_PIDS)            \
    X(VERDICT_DISK_LIMIT,     "disk_limit",     -1,  LIMIT_DISK)            \
    X(VERDICT_CANCELLED,      "cancelled",      130, LIMIT_NONE)            \
    X(VERDICT_REJECTED,       "rejected",       125, LIMIT_NONE)            \
    X(VERDICT_INTERNAL_ERROR, "internal_error", 125, LIMIT_NONE)

enum verdict {
#define X(id, word, status, limit) id,
    VERDICT_TABLE(X)
#undef X
        VERDICT_COUNT_
};

/* Why the tree was killed, if the program did not end by itself. */
enum end_reason {
    END_EXIT,    /* it ended by itself */
    END_WALL,    /* it passed its deadline */
    END_CPU,     /* it used up its CPU time */
    END_MEMORY,  /* the kernel ran out of the jar's memory */
    END_OUTPUT,  /* it printed too much */
    END_CANCEL,  /* it was cancelled */
    END_FAILURE, /* the jar itself failed */
    END_REASON_COUNT_,
};

/* Kernel objects that no cgroup charges for. A jar that holds too many of a class ends as one that
 * needs too much memory. */
enum hoard {
    HOARD_NONE,
    HOARD_CONNECTIONS,
    HOARD_SOCKETS,
    HOARD_BUFFERS,
    HOARD_LOCKS,
    HOARD_COUNT_
};
struct hoard_def {
    uint64_t most;
    const char *what;   /* "it held more than 256 " + this */
    const char *advice; /* for a program that did */
};
extern const struct hoard_def hoard_defs[HOARD_COUNT_];
/* "held more than 2048 file locks" */
const char *hoard_exceeded(enum hoard id, char *out, size_t size);

struct evidence {
    enum end_reason reason;
    int exit_code;    /* 0..255; meaningful when signal == 0 */
    int signal;       /* the signal that ended the main process, or 0 */
    limit_set hits;   /* every limit that it met, even if the program handled the error */
    enum hoard hoard; /* the objects that ended it, with reason END_MEMORY */
};

/* The usage of a run, measured from outside. */
struct usage {
    uint64_t wall_us, cpu_us, memory_peak_bytes, pids_peak;
};

enum verdict verdict_decide(const struct evidence *ev);
const char *verdict_word(enum verdict v);
extern const char *const verdict_words[]; /* all of them, in that order; NULL-terminated */
/* 0, or -1 when there is no such word. */
[[nodiscard]] int verdict_parse(const char *word, enum verdict *ret);
/* The limit that a verdict is about, or LIMIT_NONE. VERDICT_DISK_LIMIT stands for two limits: the
 * hits tell LIMIT_FILES from LIMIT_DISK. limit_defs has the words for it. */
enum limit_id verdict_limit(enum verdict v, limit_set hits);
/* The verdict that a run gets for this limit. */
enum verdict verdict_of_limit(enum limit_id id);
/* "ok, runtime_error, ...", for error messages. */
extern const char *const verdict_list;

/* The usual exit status of a run: 124, 137, 128 + signal, or the program's own. */
int verdict_exit_code(enum verdict v, const struct evidence *ev);
