/* runtime/version.h — which version of a language is installed, by asking it.
 * Runs in: main, supervisor; answers are read in the keeper as well. The command is the machine's own interpreter, never anything a guest made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/language.h"

enum { VERSION_SIZE = 32, VERSION_TEXT_MAX = 256 /* what is looked at of an answer */ };

struct version_probe {
    pid_t pid;  /* -1: not running */
    int fd;     /* what it prints; -1: nothing */
    int its_fd; /* until it is started: the other end */
};
#define VERSION_PROBE_INIT                \
    {                                     \
        .pid = -1, .fd = -1, .its_fd = -1 \
    }

/* Starts asking; the answer is there when somebody wants it. A language that is not installed has none. */
void version_probe_start(struct version_probe *p, const struct language *l);
/* The same in two steps: whoever has fd can wait for the answer before the question is asked. */
void version_probe_open(struct version_probe *p);
void version_probe_ask(struct version_probe *p, const struct language *l);
void version_probe_done(struct version_probe *p);

/* Waits for the answer and cuts the number out of it: "GNU bash, version 5.2.15(1)" -> "5.2.15". NULL when there is none. */
const char *version_probe_read(int fd, char *out, size_t size);
/* Without waiting for anybody: what was read so far. */
const char *version_cut(const char *text, size_t len, char *out, size_t size);

/* Asks all of languages[] at once and waits up to 20 s: "" for one that is not installed. */
void versions_ask(char (*ret)[VERSION_SIZE]);

/* The path of a program of a declaration, {guest} and all. NULL when it cannot be told. */
const char *version_program(const char *word, char *out, size_t size);
/* Whether the program that is asked for the version is there. */
bool version_is_to_be_had(const struct language *l);
