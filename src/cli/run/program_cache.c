/* The cache of compiled programs: its directory, the side of main, and the side of the keeper. */
#include "cli/run/program_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "settings/settings.h"

/* ---- the directory ---- */

/* The XDG base directory specification says: a path that is not absolute is ignored. */
static int base_path(char *out, size_t size, struct err *e)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (cache && cache[0] == '/')
        n = snprintf(out, size, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(out, size, "%s/.cache", home);
    if (n < 0 || (size_t)n >= size)
        return err_set(e, ERR_NOT_FOUND, 0, "neither XDG_CACHE_HOME nor HOME names a directory");
    return 0;
}

/* The file must belong to the caller and have none of the forbidden bits. */
static int check_owner(int fd, mode_t forbidden, const char *name, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at %s", name);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_DENIED, 0, "%s belongs to uid %u", name, st.st_uid);
    if (st.st_mode & forbidden)
        return err_set(e, ERR_DENIED, 0, "%s has mode %o", name, st.st_mode & 07777);
    return 0;
}

/* Opens a directory, or makes it. A link is refused: another user may have put it there. */
static int open_below(int parent_fd, const char *name, mode_t forbidden, int *ret_fd, struct err *e)
{
    if (mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make %s", name);
    autoclose int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", name);
    if (check_owner(fd, forbidden, name, e))
        return -1;
    *ret_fd = fd_take(&fd);
    return 0;
}

/* The caller names the base, which may be a link. The directories below it must belong to the
 * caller. Root with the HOME of another user stores nothing there. */
int program_cache_directory(int *ret_fd, struct err *e)
{
    char path[PATH_MAX];
    struct stat st;
    if (base_path(path, sizeof path, e))
        return -1;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make %s", path);
    autoclose int base_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base_fd < 0 || fstat(base_fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(e, ERR_DENIED, 0, "%s belongs to uid %u", path, st.st_uid);
    autoclose int own_fd = -1;
    return open_below(base_fd, "belljar", S_IWGRP | S_IWOTH, &own_fd, e) ||
                   open_below(own_fd, "programs", S_IRWXG | S_IRWXO, ret_fd, e)
               ? -1
               : 0;
}

/* ---- main ---- */

static void close_place(struct cached_stage *p)
{
    fd_close(&p->kept_fd);
    fd_close(&p->keep_fd);
    fd_close(&p->made_fd);
    buf_done(&p->made);
}

void program_cache_done(struct program_cache *c)
{
    for (int i = 0; i < CACHE_STAGES; i++)
        close_place(&c->at[i]);
    program_disk_done(&c->disk);
}

static int open_place(struct program_cache *c, enum stage kind, const struct jar_request *whole,
                      enum level level, const struct buf *files, struct err *e)
{
    struct cached_stage *p = &c->at[kind];
    struct jar_request stage = stage_request(kind, whole);
    char key[PROGRAM_KEY_SIZE];
    int fds[2];
    if (program_key(key, &stage, level, files, e) || fd_pipe(fds, e))
        return -1;
    p->made_fd = fds[0];
    p->keep_fd = fds[1];
    p->kept_fd = program_disk_open(&c->disk, key);
    memcpy(p->key, key, sizeof key);
    return 0;
}

static int open_places(struct program_cache *c, const struct stages *stages,
                       const struct run_arguments *o, const struct inputs *in, enum level level,
                       struct err *e)
{
    scoped(buf) files = { 0 };
    autofree char **sources = NULL;
    if (inputs_files(in, &files, e) ||
        stage_sources(in->language, in->main_name, &files, &sources, e))
        return -1;
    const struct jar_request whole = { .language = in->language,
                                       .main_name = in->main_name,
                                       .sources = sources,
                                       .options = &o->run_options };
    for (size_t i = 0; i + 1 < stages->n; i++)
        if (open_place(c, stages->at[i], &whole, level, &files, e))
            return -1;
    return 0;
}

void program_cache_open(struct program_cache *ret, const struct run_arguments *o,
                        const struct inputs *in, enum level level)
{
    struct stages stages = stages_of(in->language, &o->run_options);
    struct err e;
    int dir_fd = -1;
    *ret = (struct program_cache){ 0 };
    for (int i = 0; i < CACHE_STAGES; i++)
        ret->at[i].kept_fd = ret->at[i].keep_fd = ret->at[i].made_fd = -1;
    bool wanted = stages.n > 1 && !o->run_options.no_cache &&
                  program_cache_directory(&dir_fd, &e) == 0;
    program_disk_init(&ret->disk, dir_fd, settings_default().compile_cache);
    if (wanted)
        (void)!open_places(ret, &stages, o, in, level, &e);
}

void program_cache_forked(struct program_cache *c)
{
    for (int i = 0; i < CACHE_STAGES; i++) {
        fd_close(&c->at[i].kept_fd);
        fd_close(&c->at[i].keep_fd);
    }
}

void program_cache_polls(const struct program_cache *c, struct pollfd p[CACHE_POLLS])
{
    for (int i = 0; i < CACHE_STAGES; i++)
        p[i] = (struct pollfd){ .fd = c ? c->at[i].made_fd : -1, .events = POLLIN };
}

/* Stores a product as soon as it is complete: the program may run for long. */
static void take(struct program_cache *c, struct cached_stage *p)
{
    enum { PIECE = 1 << 16 };
    struct err e;
    bool more = p->made.len <= PROGRAM_FILE_MAX && buf_reserve(&p->made, PIECE, &e) == 0;
    ssize_t n = more ? read(p->made_fd, p->made.data + p->made.len, PIECE) : -1;
    if (n > 0) {
        p->made.len += (size_t)n;
        return;
    }
    if (n < 0 && more && errno == EINTR)
        return;
    if (n == 0 && p->made.len > 0)
        (void)!program_disk_put(&c->disk, p->key, &p->made, &e);
    close_place(p);
}

void program_cache_ready(struct program_cache *c, const struct pollfd p[CACHE_POLLS])
{
    for (int i = 0; c && i < CACHE_STAGES; i++)
        if (p[i].revents)
            take(c, &c->at[i]);
}

void program_cache_finish(struct program_cache *c)
{
    for (int i = 0; c && i < CACHE_STAGES; i++)
        while (c->at[i].made_fd >= 0)
            take(c, &c->at[i]);
}

/* ---- keeper ---- */

void program_cache_fds(const struct program_cache *c, int fds[CACHE_FDS])
{
    for (size_t i = 0; i < CACHE_STAGES; i++) {
        fds[2 * i] = c->at[i].kept_fd;
        fds[2 * i + 1] = c->at[i].keep_fd;
    }
}

/* The file is closed again: while the program runs, the keeper has no file of the host open. */
bool program_cache_take(struct program_cache *c, enum stage kind, struct program_file *ret)
{
    struct cached_stage *p = &c->at[kind];
    bool whole = p->kept_fd >= 0 && program_file_read(p->kept_fd, p->key, ret);
    fd_close(&p->kept_fd);
    if (whole)
        ret->result.stage = kind;
    return whole;
}

void program_cache_keep(struct program_cache *c, enum stage kind, const struct stage_result *how,
                        const struct buf *made)
{
    struct cached_stage *p = &c->at[kind];
    const struct program_file file = { .result = *how,
                                       .products = *made }; /* borrowed: not freed */
    scoped(buf) bytes = { 0 };
    struct err e;
    /* A compiler that met a limit may have made another program than it would otherwise. */
    if (p->keep_fd >= 0 && how->evidence.hits == 0 &&
        program_file_encode(&file, p->key, &bytes, &e) == 0)
        (void)!fd_write_all(p->keep_fd, bytes.data,
                            bytes.len); /* main does not store a partial product */
    fd_close(&p->keep_fd);
}
