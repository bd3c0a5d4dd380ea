/* bench/commands.h — the other ways to run a program: whole commands, started and waited for. */
#pragma once

#include <stddef.h>

#include "bench.h"
#include "guests.h"

enum way {
    WAY_BWRAP,     /* bubblewrap, with the root that a jar has */
    WAY_BWRAP_USR, /* bubblewrap, with /usr and its links and nothing else */
    WAY_BELLJAR,   /* `belljar run`: a warden, a keeper and a jar for one program */
    WAY_BARE,      /* no isolation at all */
};

enum { COMMAND_MAX = 64 };

struct command {
    const char *argv[COMMAND_MAX]; /* the strings live as long as the bench and the program */
    char storage[1024];
    char file[256];   /* the program's main file on the host */
    const char *says; /* what it must print */
    bool file_on_3;   /* bubblewrap copies the file from descriptor 3 */
};

/* What commands need on disk: the files of programs[] and the skeleton of a root. */
void commands_prepare(const struct bench *b);
void command_build(struct command *ret, const struct bench *b, enum way way,
                   const struct program *p);
/* From before it is started to its end and the end of its output. It must succeed. */
double command_once(const struct command *c);
/* Starts it with its output thrown away and does not wait. */
pid_t command_start(const struct command *c);
