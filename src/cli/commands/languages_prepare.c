/* `belljar languages prepare`: makes the seeds of languages. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/place.h"
#include "base/text.h"
#include "base/tree.h"
#include "cli/commands/languages_command.h"

enum { PREPARE_MS = 300000, STAMP_SIZE = 512 };

#define SEED       "seed"
#define SEED_STAMP "seed.version"
#define SEED_NEW   "seed.new"
#define SEED_OLD   "seed.old"

/* A seed depends on the version of the language, on the script, which a newer belljar may have
 * changed, and on files of the machine, which may be missing. */
static int wanted_stamp(const struct language *l, const char *version, const char *script,
                        char out[STAMP_SIZE], struct err *e)
{
    struct stat st;
    if (stat(script, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at %s", script);
    int n = snprintf(out, STAMP_SIZE, "%s %lld.%09ld %lld", version, (long long)st.st_mtim.tv_sec,
                     st.st_mtim.tv_nsec, (long long)st.st_size);
    for (const char *const *path = l->seed_sources; path && *path && n < STAMP_SIZE; path++) {
        bool there = stat(*path, &st) == 0;
        n += snprintf(out + n, (size_t)(STAMP_SIZE - n), " %lld.%09ld",
                      there ? (long long)st.st_mtim.tv_sec : 0, there ? st.st_mtim.tv_nsec : 0);
    }
    if (n >= STAMP_SIZE - 1)
        return err_set(e, ERR_BAD_REQUEST, 0, "the version of %s is too long", l->name);
    (void)snprintf(out + n, (size_t)(STAMP_SIZE - n), "\n");
    return 0;
}

static bool is_made(int dir_fd, const char *wanted)
{
    char stamp[STAMP_SIZE];
    struct stat st;
    return fstatat(dir_fd, SEED, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           fd_read_file(dir_fd, SEED_STAMP, stamp, sizeof stamp) > 0 && strcmp(stamp, wanted) == 0;
}

/* a+rX: jars have uids of their own. go-w: only the owner may change files that jars execute. */
static int open_up(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)where;
    if (kind == FTW_SL || kind == FTW_SLN || (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)))
        return 0;
    mode_t mode = st->st_mode | 0444;
    if (S_ISDIR(mode) || (mode & 0111))
        mode |= 0111;
    return chmod(path, mode & 07777 & ~(mode_t)(S_IWGRP | S_IWOTH));
}

/* The script's group is its own, so that all of it can be ended. */
static pid_t start_script(const char *script, const char *dir)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char name[] = "/bin/sh", path[] = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
         locale[] = "LC_ALL=C", home[] = "HOME=/nonexistent";
    char *argv[] = { name, (char *)script, (char *)dir, NULL };
    char *envp[] = { path, locale, home, NULL };
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)umask(022);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && setpgid(0, 0) == 0 && null_fd >= 0 &&
        dup2(null_fd, 0) == 0 && dup2(2, 1) == 1)
        (void)execve(name, argv, envp);
    _exit(127);
}

static int run_script(const char *script, const char *dir, struct err *e)
{
    int status = 0;
    pid_t pid = start_script(script, dir);
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start %s", script);
    autoclose int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = { .fd = pidfd, .events = POLLIN };
    uint64_t due = clock_ms() + PREPARE_MS;
    int ready = 0;
    while (pidfd >= 0 && clock_ms() < due && (ready = poll(&p, 1, (int)(due - clock_ms()))) < 0 &&
           errno == EINTR)
        ;
    (void)kill(-pid,
               SIGKILL); /* its remaining children; it is not reaped yet, so the group is its own */
    if (ready <= 0)
        (void)kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (ready <= 0)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "%s took longer than %d s: run it again when the machine is less busy",
                       script, PREPARE_MS / 1000);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "%s failed (%s %d); its output is above", script,
                       WIFEXITED(status) ? "status" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}

/* The old seed stays until the new one is complete. */
static int put_in_place(int dir_fd, const char *stamp, struct err *e)
{
    if (unlinkat(dir_fd, SEED_STAMP, 0) < 0 && errno != ENOENT)
        return err_set(e, ERR_KERNEL, errno, "remove the seed's stamp");
    if (renameat(dir_fd, SEED, dir_fd, SEED_OLD) < 0 && errno != ENOENT)
        return err_set(e, ERR_KERNEL, errno, "put the old seed away");
    if (renameat(dir_fd, SEED_NEW, dir_fd, SEED) < 0)
        return err_set(e, ERR_KERNEL, errno, "put the seed in its place");
    autoclose int fd = openat(dir_fd, SEED_STAMP, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, stamp, strlen(stamp)))
        return err_set(e, ERR_KERNEL, errno, "write the seed's stamp");
    return tree_remove(dir_fd, SEED_OLD, e);
}

static int make_seed(int dir_fd, const char *dir, const char *script, const char *stamp,
                     struct err *e)
{
    char made[4400];
    (void)snprintf(made, sizeof made, "%s/" SEED_NEW, dir);
    /* leftovers of a process that was killed */
    if (tree_remove(dir_fd, SEED_NEW, e) || tree_remove(dir_fd, SEED_OLD, e))
        return -1;
    if (mkdirat(dir_fd, SEED_NEW, 0755) < 0 || fchmodat(dir_fd, SEED_NEW, 0755, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "make %s", made);
    struct err ignored;
    if (run_script(script, made, e)) {
        (void)!tree_remove(dir_fd, SEED_NEW, &ignored);
        return -1;
    }
    if (nftw(made, open_up, 16, FTW_PHYS) != 0)
        return err_set(e, ERR_KERNEL, errno, "let everybody read %s", made);
    return put_in_place(dir_fd, stamp, e);
}

/* The script runs with the rights of the caller, which may be root. */
static int check_script(int dir_fd, const char *script, struct err *e)
{
    struct stat dir, file;
    if (fstat(dir_fd, &dir) < 0 || fstatat(dir_fd, "prepare", &file, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at %s", script);
    if (S_ISREG(file.st_mode) && !((dir.st_mode | file.st_mode) & S_IWOTH))
        return 0;
    return err_set(e, ERR_DENIED, 0,
                   "'%s' is writable for every user, or not a regular file: run 'chmod o-w' on it "
                   "and its directory",
                   QUOTED(script));
}

/* Locks a file beside the guest directory. Jars see the guest directory, and a guest may lock
 * everything that it can open; this file is closed to others, and only /usr could show it. */
static int lock_for(const char *dir, const char *language, int *ret_fd, struct err *e)
{
    char path[4400];
    const char *slash = strrchr(dir, '/');
    (void)snprintf(path, sizeof path, "%.*s/../.prepare-%s.lock", (int)(slash - dir), dir,
                   language);
    autoclose int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || fchmod(fd, 0600) < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", path);
    int rc = flock(fd, LOCK_EX | LOCK_NB);
    if (rc < 0 && errno == EWOULDBLOCK) {
        (void)fprintf(stderr, "belljar: waiting for another 'belljar languages prepare' of %s\n",
                      language);
        while ((rc = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
            ;
    }
    if (rc < 0)
        return err_set(e, ERR_KERNEL, errno, "lock %s", path);
    *ret_fd = fd_take(&fd);
    return 0;
}

static int prepare_one(const struct language *l, const char *version, struct err *e)
{
    char name[96], script[4200], dir[4200], stamp[STAMP_SIZE];
    (void)snprintf(name, sizeof name, GUEST_DIR "/%s/prepare", l->name);
    if (place_find(name, script, sizeof script, e))
        return -1;
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(script, '/') - script), script);
    autoclose int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", dir);
    if (check_script(dir_fd, script, e) || wanted_stamp(l, version, script, stamp, e))
        return -1;
    if (is_made(dir_fd, stamp))
        return 0;
    autoclose int lock = -1;
    if (lock_for(dir, l->name, &lock, e))
        return -1;
    if (is_made(dir_fd, stamp)) /* by the process that had the lock */
        return 0;
    (void)printf("==> prepare (%s)\n", l->name);
    (void)fflush(stdout);
    return make_seed(dir_fd, dir, script, stamp, e);
}

int languages_prepare(const struct language_facts *f, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; languages[i]; i++) {
        const struct language *l = languages[i];
        struct err why = { 0 };
        if (!f->chosen[i] || !l->seeded)
            continue;
        if (!f->versions[i][0] && f->named)
            (void)!err_set(&why, ERR_UNAVAILABLE, 0, "%s is not installed: '%s' installs it",
                           l->name, l->install);
        if (why.code == ERR_NONE &&
            (!f->versions[i][0] || prepare_one(l, f->versions[i], &why) == 0))
            continue;
        /* The other seeds are made all the same. */
        (void)err_wrap(&why, "prepare %s", l->name);
        if (rc < 0)
            (void)fprintf(stderr, "belljar: %s\n", e->text);
        *e = why;
        rc = -1;
    }
    return rc;
}
