/* bench/command.h — the other ways to run a program: whole commands, started and waited for.
 * Runs in: the process that measures. Every command has the same environment, and below site->dir the same file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bench/program.h"

/* One row each in ways[] of way.c. */
enum way {
    WAY_BARE,        /* no isolation at all */
    WAY_BWRAP,       /* bubblewrap, with the root that a jar has */
    WAY_BWRAP_USR,   /* bubblewrap, with /usr and its links and nothing else */
    WAY_BELLJAR,     /* `belljar run`: by the service of site->state, or without one */
    WAY_DOCKER_RUN,  /* a container for each program */
    WAY_DOCKER_EXEC, /* one container, in which they all run */
    WAY_RUNSC,       /* gVisor, `runsc do` */
    WAY_FIREJAIL,
    WAYS
};

enum { COMMAND_MAX = 96, COMMAND_ENV_MAX = 8 };

/* Where commands find what they need. */
struct site {
    const char *dir;     /* ours alone: programs' files, and root/, which way_prepare() makes */
    const char *belljar; /* the command */
    const char *state;   /* of the service that WAY_BELLJAR is to find; NULL: none */
};

struct command {
    const char *argv[COMMAND_MAX]; /* the strings live as long as the site, the program and this */
    const char *env[COMMAND_ENV_MAX];
    char storage[4096];
    char file[512];   /* the program's main file on the host */
    const char *says; /* what it must print; NULL: anything */
    bool file_on_3;   /* bubblewrap copies the file from descriptor 3 */
};

/* What commands need on disk: the files of the programs and the skeleton of a root. */
void way_prepare(const struct site *s, const struct program *programs, size_t n);
/* Once before the first command of a way that needs it: an image, a container. False when that fails; `why` tells. */
[[nodiscard]] bool way_ready(const struct site *s, enum way way, char *why, size_t size);
/* What way_ready() left: also after a crash, by another process. */
void way_clean(const struct site *s);
void command_build(struct command *ret, const struct site *s, enum way way,
                   const struct program *p);

/* From before it is started to its end and the end of its output. It must succeed and say what it has to. */
double command_once(const struct command *c);
/* The same, but a failure is told: the last line of its stderr, or what it did instead. */
[[nodiscard]] bool command_try(const struct command *c, char *why, size_t size);
/* Starts it with its output thrown away and does not wait. */
pid_t command_start(const struct command *c);

struct command_rate {
    size_t runs;
    double cpu_ms; /* of the commands and everything they waited for */
    /* While as many as there should be were running: what a rate is made of. */
    size_t busy_runs;
    double busy_s;
};
/* As many as can be run, `at_once` at a time, for so long and until so many are over; those begun are finished. */
struct command_rate command_rate(const struct command *c, size_t at_once, double seconds,
                                 size_t at_least);
