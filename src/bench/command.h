/* bench/command.h — the other ways to run a program: whole commands, started and waited for. Runs
 * in: the process that measures. Every command has the same environment and the same file below
 * site->dir. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bench/bench_program.h"

/* One row each in ways[] of way.c. */
enum way {
    WAY_BARE,        /* no isolation at all */
    WAY_BWRAP,       /* bubblewrap, with the root of a jar */
    WAY_BWRAP_USR,   /* bubblewrap, with /usr, its links and nothing else */
    WAY_BELLJAR,     /* `belljar run`: through the service of site->state, or without one */
    WAY_DOCKER_RUN,  /* a container for each program */
    WAY_DOCKER_EXEC, /* one container in which all programs run */
    WAY_RUNSC,       /* gVisor, `runsc do` */
    WAY_FIREJAIL,
    WAYS
};

enum { COMMAND_MAX = 96, COMMAND_ENV_MAX = 8 };

/* The files and services that commands use. */
struct site {
    /* used by nothing else: files of the programs, and root/, made by way_prepare() */
    const char *dir;
    const char *belljar; /* the command */
    const char *state;   /* of the service for WAY_BELLJAR; NULL: none */
};

struct way_command {
    const char *argv[COMMAND_MAX]; /* the strings live as long as the site, the program and this */
    const char *env[COMMAND_ENV_MAX];
    char storage[4096];
    char file[512];   /* the program's main file on the host */
    const char *says; /* its required output; NULL: anything */
    bool file_on_3;   /* bubblewrap copies the file from descriptor 3 */
};

/* Makes the files of the programs and the skeleton of a root. */
void way_prepare(const struct site *s, const struct bench_program *programs, size_t n);
/* Once before the first command of a way: makes its image or container, if it needs one. False on
 * failure, with `why`. */
[[nodiscard]] bool way_ready(const struct site *s, enum way way, char *why, size_t size);
/* Removes the results of way_ready(), also after a crash, from another process. */
void way_clean(const struct site *s);
void command_build(struct way_command *ret, const struct site *s, enum way way,
                   const struct bench_program *p);

/* Measures from before the start to the end of the command and of its output. It must succeed with
 * the required output. */
double command_once(const struct way_command *c);
/* The same, but reports a failure: the last line of its stderr, or a description. */
[[nodiscard]] bool command_try(const struct way_command *c, char *why, size_t size);
/* Starts it without reading its output, and does not wait. */
pid_t command_start(const struct way_command *c);

struct command_rate {
    size_t runs;
    double cpu_ms; /* of the commands and all their children */
    /* While the full number was running: the base of a rate. */
    size_t busy_runs;
    double busy_s;
};
/* Runs commands, `at_once` at a time, for this time and until this many have ended; started ones
 * are finished. */
struct command_rate command_rate(const struct way_command *c, size_t at_once, double seconds,
                                 size_t at_least);
