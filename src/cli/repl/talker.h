/* cli/repl/talker.h — the process of `belljar repl` that speaks to the service. It has the uid and
 * the confinement of a keeper, because answers hold bytes that programs wrote. It prints the output
 * of cells itself.
 *
 * TALKER-1 One question of main at a time. While a cell runs, main may interrupt it or send it a
 *          line; a second connection carries that.
 * TALKER-2 The session ends with main, even if main is killed, unless the caller keeps it. If the
 *          talker is killed too, the session expires. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum image_protocol { IMAGES_NONE, IMAGES_KITTY, IMAGES_ITERM, IMAGES_SIXEL };

struct talker_job {
    const char *language;
    const char *session;          /* the id of the session to use; NULL: a new one */
    json_t *limits, *cell_limits; /* of a new one; NULL: the defaults of the service */
    json_t *network;              /* of a new one, as in a request; NULL: none */
    json_t *mounts;               /* the same */
    bool keeps;                   /* the session outlives us */
    int link_fd, uid_fd;          /* uid_fd: the lock of our uid, or -1 */
    pid_t parent;
    uid_t uid;
    enum image_protocol images;
};

/* Opens the session, serves main until it is gone, and ends the session. Exit status. */
int talker_run(const struct talker_job *job);
