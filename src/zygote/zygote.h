/* zygote/zygote.h — one zygote, as the warden sees it: booted, asked for embryos, ended.
 * Runs in: warden. Never logs, never waits.
 *
 * Invariants
 * ZYGOTE-1 A zygote has no capability, a uid that no jar has, and no network. It sees the files
 *    that a jar sees. It never runs guest code and never learns of a job.
 * ZYGOTE-2 The warden trusts no report of a zygote: the pid of an embryo must be a child of the
 *    warden, and the kernel enforces the limits of an embryo since it gave up its rights. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jar/jar.h"
#include "spec/pool.h"

enum { ZYGOTE_FILES_MAX = 4 };

/* The files of a driver, opened while the file system of the host is visible. */
struct zygote_files {
    const struct zygote_def *def;
    int fds[ZYGOTE_FILES_MAX];
    struct err err; /* with a code: there is no such zygote, and its starts are cold */
};
void zygote_files_open(struct zygote_files *f, const struct zygote_def *def);
void zygote_files_done(struct zygote_files *f);

struct zygote {
    struct embryo_source source; /* first: a jar gets a pointer to it */
    pid_t pid;
    int pidfd;
    int fd; /* a socket; readable when the zygote has booted or died */
    bool up;
    bool may_renice;
    uint64_t born_us, forks;
    uint64_t *all_forks; /* of all zygotes of this kind */
};

/* Starts one. zygote_check() sets `up` when it has booted. */
[[nodiscard]] int zygote_start(struct jar_host *h, const struct zygote_files *files,
                               uint64_t *all_forks, struct zygote **ret, struct err *e);
/* Reads all its messages, so that an edge-triggered watch of the socket is enough. -1: it is dead
 * or dying; 0: `up` is current. */
[[nodiscard]] int zygote_check(struct zygote *z, struct err *e);
/* Kills it and does not wait: a large one takes some milliseconds to end. True when it is gone. */
bool zygote_end(struct zygote *z);
/* Kills and reaps it. Its embryos live on. */
void zygote_kill(struct zygote *z);
/* The same, and frees it. Accepts NULL. */
void zygote_free(struct zygote *z);
