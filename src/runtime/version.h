/* runtime/version.h — asks a language for its version. Runs in: main, supervisor; the keeper also
 * reads answers. The command is the machine's own interpreter and never a guest's file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/language.h"

enum { VERSION_SIZE = 32, VERSION_TEXT_MAX = 256 /* longest answer that is read */ };

struct version_probe {
    pid_t pid;  /* -1: not running */
    int fd;     /* its output; -1: none */
    int its_fd; /* the write end, until the program is started */
};
#define VERSION_PROBE_INIT                \
    {                                     \
        .pid = -1, .fd = -1, .its_fd = -1 \
    }

/* Starts the program without waiting for its answer. A language that is not installed has none. */
void version_probe_start(struct version_probe *p, const struct language *l);
/* The same in two steps: a process that inherits fd can wait for the answer before the program is
 * started. */
void version_probe_open(struct version_probe *p);
void version_probe_ask(struct version_probe *p, const struct language *l);
void version_probe_done(struct version_probe *p);

/* Waits for the answer and extracts the number: "GNU bash, version 5.2.15(1)" -> "5.2.15". NULL if
 * there is none. */
const char *version_probe_read(int fd, char *out, size_t size);
/* The same for text that was already read. */
const char *version_cut(const char *text, size_t len, char *out, size_t size);

/* Asks all of languages[] at once and waits up to 20 s. "" for a language that is not installed. */
void versions_ask(char (*ret)[VERSION_SIZE]);

/* The path of a program in a declaration, with {guest} replaced. NULL if it cannot be found. */
const char *version_program(const char *word, char *out, size_t size);
/* True if the program that prints the version exists. */
bool version_program_exists(const struct language *l);
