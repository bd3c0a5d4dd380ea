#include "service/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/text.h"
#include "base/tree.h"
#include "run/keeper_uid.h"
#include "service/hand_over.h"
#include "service/owned.h"

void state_done(struct state *s)
{
    fd_close(&s->dir_fd);
    fd_close(&s->lock_fd);
}

int state_choose(const char *option, char *out, size_t size, struct err *e)
{
    const char *own = getenv("BELLJAR_STATE"), *base = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int n;
    if (option)
        n = snprintf(out, size, "%s", option);
    else if (own && *own)
        n = snprintf(out, size, "%s", own);
    else if (geteuid() == 0)
        n = snprintf(out, size, "/var/lib/belljar");
    else if (base && *base == '/')
        n = snprintf(out, size, "%s/belljar", base);
    else if (home && *home == '/')
        n = snprintf(out, size, "%s/.local/state/belljar", home);
    else
        return err_set(e, ERR_USAGE, 0, "no state directory: name one with --state DIR");
    if (n <= 0 || (size_t)n >= size)
        return err_set(e, ERR_BAD_REQUEST, 0, "--state: expected a path of 1 to %zu bytes",
                       size - 1);
    return 0;
}

int state_make_temporary(char *out, size_t size, struct err *e)
{
    static const char name[] = "belljar-private-XXXXXX";
    enum { PATH_OF_SOCKET = 80 }; /* with "/belljar.sock" it fits an address */
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(out, size, "%s/%s", tmp && *tmp == '/' ? tmp : "/tmp", name);
    if (n < 0 || n > PATH_OF_SOCKET)
        (void)snprintf(out, size, "/tmp/%s", name);
    if (!mkdtemp(out) || chmod(out, 0711) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the directory '%s'", QUOTED(out));
    return 0;
}

/* A process of ours that was killed a moment ago may still write there. */
void state_remove(const struct state *s)
{
    enum { TRIES = 50, STEP_NS = 20000000 };
    struct err e = { 0 };
    if (!s->path[0])
        return;
    int rc = tree_remove(AT_FDCWD, s->path, &e);
    for (int i = 0; rc && i < TRIES; i++) {
        (void)nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
        rc = tree_remove(AT_FDCWD, s->path, &e);
    }
    if (rc)
        log_error(LOG_ERROR, "state.not_removed", &e);
}

static int make_parents(char *path, struct err *e)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int rc = mkdir(path, 0755);
        if (rc < 0 && errno != EEXIST)
            return err_set(e, ERR_KERNEL, errno, "make '%s' for state (--state chooses another)",
                           path);
        *slash = '/';
    }
    return 0;
}

static int check_owner(int fd, const char *path, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at '%s'", path);
    if (st.st_uid != geteuid())
        return err_set(
            e, ERR_DENIED, 0,
            "the state directory '%s' belongs to uid %u, and this process is uid %u: use another "
            "--state",
            path, st.st_uid, geteuid());
    if (st.st_mode & 022)
        return err_set(e, ERR_DENIED, 0,
                       "others can write to the state directory '%s': 'chmod go-w' it, or use "
                       "another --state",
                       path);
    return 0;
}

int state_open(struct state *ret, const char *path, struct err *e)
{
    struct state s = STATE_INIT;
    char given[STATE_PATH_MAX], quoted[96];
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') /* O_NOFOLLOW would follow a link with a slash behind it */
        n--;
    if (n == 0 || n >= sizeof given)
        return err_set(e, ERR_BAD_REQUEST, 0, "--state '%s': expected a path of 1 to %zu bytes",
                       text_quote(path, quoted, sizeof quoted), sizeof given - 1);
    memcpy(given, path, n);
    given[n] = '\0';
    if (make_parents(given, e))
        return -1;
    if (mkdir(given, 0755) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make '%s' for state (--state chooses another)",
                       text_quote(given, quoted, sizeof quoted));
    autoclose int fd = open(given, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open the state directory '%s'",
                       text_quote(given, quoted, sizeof quoted));
    autofree char *real = realpath(given, NULL);
    if (!real || strlen(real) >= sizeof s.path - sizeof "/belljar.sock")
        return err_set(e, ERR_BAD_REQUEST, real ? 0 : errno, "the path of '%s' is too long",
                       text_quote(given, quoted, sizeof quoted));
    if (check_owner(fd, real, e))
        return -1;
    memcpy(s.path, real, strlen(real) + 1);
    s.dir_fd = fd_take(&fd);
    *ret = s;
    return 0;
}

/* The process id in a lock file; 0 if there is none. */
static pid_t read_pid(int fd)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    long pid = strtol(text, NULL, 10);
    return pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

int state_lock(struct state *s, struct err *e)
{
    autoclose int fd = openat(s->dir_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s/lock", s->path);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return err_set(e, ERR_KERNEL, errno, "lock %s/lock", s->path);
        return err_set(e, ERR_CONFLICT, 0,
                       "the service with pid %d uses '%s': stop it, or use another --state",
                       (int)read_pid(fd), s->path);
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0 || fd_write_all(fd, text, (size_t)n))
        return err_set(e, ERR_KERNEL, errno, "write %s/lock", s->path);
    s->lock_fd = fd_take(&fd);
    return 0;
}

pid_t state_holder(const char *path)
{
    char name[STATE_PATH_MAX + 8];
    (void)snprintf(name, sizeof name, "%s/lock", path);
    autoclose int fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return read_pid(fd);
}

/* ---- the keeper's uid and its data ---- */

static const char keeper_file[] = "keeper", keeper_file_new[] = "keeper.new";

int state_read_keeper(const struct state *s, uid_t *ret, struct err *e)
{
    char text[32];
    struct stat st;
    *ret = 0;
    autoclose int fd = openat(s->dir_fd, keeper_file,
                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s/%s", s->path, keeper_file);
    ssize_t n = fd_read_full(fd, text, sizeof text - 1);
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "read %s/%s", s->path, keeper_file);
    text[n] = '\0';
    char *end;
    unsigned long uid = strtoul(text, &end, 10);
    if (st.st_uid != geteuid() || *end != '\n' || !keeper_uid_of_state((uid_t)uid) ||
        uid > UINT32_MAX)
        return err_set(e, ERR_DENIED, 0,
                       "%s/%s does not contain a uid that this program wrote: remove the file",
                       s->path, keeper_file);
    *ret = (uid_t)uid;
    return 0;
}

int state_write_keeper(const struct state *s, uid_t uid, bool replace, struct err *e)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%u\n", uid);
    (void)unlinkat(s->dir_fd, keeper_file_new, 0);
    autoclose int fd = openat(s->dir_fd, keeper_file_new,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, text, (size_t)n) || fsync(fd) < 0)
        return err_set(e, ERR_KERNEL, errno, "write %s/%s", s->path, keeper_file_new);
    int rc = replace ? renameat(s->dir_fd, keeper_file_new, s->dir_fd, keeper_file)
                     : linkat(s->dir_fd, keeper_file_new, s->dir_fd, keeper_file, 0);
    if (rc < 0 && !(errno == EEXIST && !replace))
        return err_set(e, ERR_KERNEL, errno, "write %s/%s", s->path, keeper_file);
    (void)unlinkat(s->dir_fd, keeper_file_new, 0);
    return 0;
}

static int give_data(const struct state *s, int fd, uid_t from, uid_t to, struct err *e)
{
    size_t left = 0;
    if (hand_over(fd, from, to, &left, e))
        return err_wrap(e, "hand %s/data over to uid %u", s->path, to);
    if (left > 0)
        log_event(LOG_WARN, "state.left_alone",
                  "path=\"%s/data\" files=%zu hint=\"they belong to others or have a second name\"",
                  s->path, left);
    return 0;
}

int state_data(const struct state *s, uid_t owner, struct err *e)
{
    struct stat st;
    if (owned_make(s->dir_fd, "data", 0700, owner, e) < 0)
        return err_wrap(e, "in %s", s->path);
    autoclose int fd = owned_open_dir(s->dir_fd, "data", O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s/data", s->path);
    bool ours = st.st_uid == geteuid() || (geteuid() == 0 && keeper_uid_of_state(st.st_uid));
    if (!ours)
        return err_set(
            e, ERR_DENIED, 0,
            "%s/data belongs to uid %u, and the service runs as uid %u: change its owner "
            "with 'chown -R', or use another --state",
            s->path, st.st_uid, owner);
    if (st.st_uid != owner && give_data(s, fd, st.st_uid, owner, e))
        return -1;
    if ((st.st_mode & 07777) != 0700 && owned_chmod(fd, 0700) < 0)
        return err_set(e, ERR_KERNEL, errno, "close %s/data to others", s->path);
    return 0;
}

int state_owner(const struct state *s, uid_t *ret, struct err *e)
{
    struct stat st;
    *ret = geteuid();
    if (fstatat(s->dir_fd, "data", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        *ret = st.st_uid;
        return 0;
    }
    if (!keeper_uid_possible())
        return 0;
    scoped(keeper_uid) fresh = KEEPER_UID_INIT;
    return keeper_uid_take(&fresh, KEEPER_OF_STATE, 0, e) ||
                   state_write_keeper(s, fresh.uid, false, e) || state_read_keeper(s, ret, e)
               ? -1
               : 0;
}

int state_make_data(const struct state *s, struct err *e)
{
    uid_t owner;
    return state_owner(s, &owner, e) || state_data(s, owner, e) ? -1 : 0;
}
