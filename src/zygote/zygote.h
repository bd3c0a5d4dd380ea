/* zygote/zygote.h — one zygote, as the warden sees it: booted, asked for embryos, ended.
 * Runs in: warden. Never logs, never waits.
 *
 * Invariants
 * Z1 A zygote has no capability, a uid that is no jar's, no network, and sees the files a jar sees. It never runs guest code and is
 *    told nothing of any job.
 * Z2 Nothing it says is taken on trust: an embryo's number must be that of a child of ours, and what an embryo may do was
 *    settled by the kernel when it gave everything up. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jar/jar.h"
#include "spec/pool.h"

enum { ZYGOTE_FILES_MAX = 4 };

/* The files of a driver, opened while the host's file system can still be seen. */
struct zygote_files {
    const struct zygote_def *def;
    int fds[ZYGOTE_FILES_MAX];
    struct err err; /* why it cannot be, with err.code; its starts are cold then */
};
void zygote_files_open(struct zygote_files *f, const struct zygote_def *def);
void zygote_files_done(struct zygote_files *f);

struct zygote {
    struct embryo_source source; /* first: what a jar is given */
    pid_t pid;
    int pidfd;
    int fd; /* its socket; readable when it has booted or died */
    bool up;
    bool may_renice;
    uint64_t born_us, forks;
    uint64_t *all_forks; /* of all of its kind */
};

/* Starts one; it is up once zygote_check() says so. */
[[nodiscard]] int zygote_start(struct jar_host *h, const struct zygote_files *files,
                               uint64_t *all_forks, struct zygote **ret, struct err *e);
/* Hears all that it has said, so that its socket may be watched for edges alone. -1: it is dead or dying, and e says why;
 * 0: `up` says whether it has booted. */
[[nodiscard]] int zygote_check(struct zygote *z, struct err *e);
/* Kills it, and does not wait: a large one takes some milliseconds to go. True when it is gone. */
bool zygote_end(struct zygote *z);
/* Kills and reaps it. Embryos that it has forked live on. Accepts NULL. */
void zygote_free(struct zygote *z);
