/* runtime/version.h — which version of a language is installed, by asking it.
 * Runs in: CLI. The command is the machine's own interpreter, never anything a guest made. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "runtime/language.h"

enum { VERSION_SIZE = 32 };

struct version_probe {
    pid_t pid; /* -1: not running */
    int fd;    /* what it prints; -1: nothing */
};
#define VERSION_PROBE_INIT  \
    {                       \
        .pid = -1, .fd = -1 \
    }

/* Starts asking; the answer is there when somebody wants it. A language that is not installed has none. */
void version_probe_start(struct version_probe *p, const struct language *l);
void version_probe_done(struct version_probe *p);

/* Waits for the answer and cuts the number out of it: "GNU bash, version 5.2.15(1)" -> "5.2.15". NULL when there is none. */
const char *version_probe_read(int fd, char *out, size_t size);
