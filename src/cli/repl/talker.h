/* cli/repl/talker.h — the process of `belljar repl` that speaks to the service. It has the uid and
 * the confinement of a keeper, because answers hold bytes that programs wrote. It prints the output
 * of cells itself.
 *
 * TALKER-1 One question of main at a time. While a cell runs, main may interrupt it or send it a
 *          line; a second connection carries that. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "client/client.h"

enum image_protocol { IMAGES_NONE, IMAGES_KITTY, IMAGES_ITERM };

struct talker_job {
    struct client *events, *side;
    const char *language;
    int link_fd;
    pid_t parent;
    uid_t uid;
    enum image_protocol images;
};

/* Creates the session, serves main until it is gone, and ends the session. Exit status. */
int talker_run(const struct talker_job *job);
