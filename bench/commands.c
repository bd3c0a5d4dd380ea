#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "jar/skeleton.h"
#include "programs.h"

/* For every command the same, and for what runs in it the same as in a jar. */
static const char *const environment[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONUNBUFFERED=1",
    "PYTHONDONTWRITEBYTECODE=1",         NULL,
};

void commands_prepare(const struct bench *b)
{
    struct err e;
    char path[512];
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!programs[i].file)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", b->dir, programs[i].file);
        autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0 || fd_write_all(fd, programs[i].code, programs[i].code_len))
            die(path, NULL);
    }
    (void)snprintf(path, sizeof path, "%s/root", b->dir);
    if (mkdir(path, 0755) < 0)
        die(path, NULL);
    autoclose int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autoclose int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || host < 0)
        die(path, NULL);
    if (skeleton_build(host, root, &e))
        die("build a root for bubblewrap", &e);
}

static void add(struct command *c, const char *word)
{
    size_t n = 0;
    while (c->argv[n])
        n++;
    if (n + 1 == COMMAND_MAX)
        die("a command is too long", NULL);
    c->argv[n] = word;
}

static void add_all(struct command *c, const char *const *words)
{
    for (; *words; words++)
        add(c, *words);
}

/* A string of our own, kept in the command. */
static const char *keep(struct command *c, const char *before, const char *after)
{
    size_t used = 0;
    while (c->storage[used])
        used += strlen(c->storage + used) + 1;
    char *at = c->storage + used;
    size_t room = sizeof c->storage - used;
    if ((size_t)snprintf(at, room, "%s%s", before, after) + 2 > room)
        die("a command is too long", NULL);
    return at;
}

/* The skeleton and what of the host a jar shows; /proc, /dev and two empty places as bubblewrap makes them. */
static void add_same_root(struct command *c, const struct bench *b)
{
    add_all(c, (const char *const[]){ "--ro-bind", keep(c, b->dir, "/root"), "/", NULL });
    for (const char *const *dir = skeleton_binds; *dir; dir++) {
        struct stat st;
        const char *path = keep(c, "/", *dir);
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            add_all(c, (const char *const[]){ "--ro-bind", path, path, NULL });
    }
    add_all(c, (const char *const[]){ "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                                      "--tmpfs", "/sandbox", "--chdir", "/sandbox", NULL });
}

static void add_usr_alone(struct command *c)
{
    add_all(c, (const char *const[]){ "--ro-bind", "/usr", "/usr", NULL });
    static const char *const dirs[] = { "bin", "lib", "lib64" };
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
        add_all(c, (const char *const[]){ "--symlink", keep(c, "usr/", dirs[i]),
                                          keep(c, "/", dirs[i]), NULL });
}

/* The program itself, with its file at this place. */
static void add_program(struct command *c, const struct program *p, const char *file)
{
    for (const char *const *word = p->language->command; *word; word++)
        add(c, strcmp(*word, FILE_ARGUMENT) == 0 ? file : *word);
}

static void add_bwrap(struct command *c, const struct bench *b, enum way way,
                      const struct program *p)
{
    add_all(c,
            (const char *const[]){ "/usr/bin/bwrap", "--unshare-all", "--die-with-parent", NULL });
    if (way == WAY_BWRAP)
        add_same_root(c, b);
    else
        add_usr_alone(c);
    const char *inside = p->file ? keep(c, "/sandbox/", p->file) : NULL;
    c->file_on_3 = inside;
    if (inside)
        add_all(c, (const char *const[]){ "--file", "3", inside, NULL });
    add_program(c, p, inside);
}

void command_build(struct command *ret, const struct bench *b, enum way way,
                   const struct program *p)
{
    *ret = (struct command){ .says = p->says };
    if (p->file)
        (void)snprintf(ret->file, sizeof ret->file, "%s/%s", b->dir, p->file);
    switch (way) {
    case WAY_BWRAP:
    case WAY_BWRAP_USR:
        add_bwrap(ret, b, way, p);
        break;
    case WAY_BELLJAR:
        add_all(ret, (const char *const[]){ b->belljar, "run", ret->file, NULL });
        break;
    case WAY_BARE:
        add_program(ret, p, ret->file);
        break;
    }
}

static pid_t spawn(const struct command *c, int out_fd)
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, out_fd, 1) != 0 ||
        (c->file_on_3 && posix_spawn_file_actions_addopen(&actions, 3, c->file, O_RDONLY, 0) != 0))
        die("prepare a command", NULL);
    errno = posix_spawn(&pid, c->argv[0], &actions, NULL, (char *const *)c->argv,
                        (char *const *)environment);
    if (errno != 0)
        die(c->argv[0], NULL);
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

double command_once(const struct command *c)
{
    int ends[2], status;
    char said[256];
    struct err e;
    uint64_t begin = clock_us();
    if (fd_pipe(ends, &e))
        die("pipe", &e);
    autoclose int out = ends[0];
    pid_t pid = spawn(c, ends[1]);
    (void)close(ends[1]);
    ssize_t n = fd_read_full(out, said, sizeof said - 1);
    if (n < 0 || waitpid(pid, &status, 0) < 0)
        die(c->argv[0], NULL);
    uint64_t end = clock_us();
    said[n] = '\0';
    if (status != 0 || strcmp(said, c->says) != 0) {
        (void)fprintf(stderr, "bench: %s: wait status %d, said '%s'\n", c->argv[0], status, said);
        die("a command failed", NULL);
    }
    return (double)(end - begin) / 1000;
}

pid_t command_start(const struct command *c)
{
    autoclose int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0)
        die("/dev/null", NULL);
    return spawn(c, null);
}
