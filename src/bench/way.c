/* bench/way.c — the command line of each way to run a program, and its preparation. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "bench/command.h"
#include "bench/die.h"
#include "jar/skeleton.h"

/* The same for every command, and for the program inside the same as in a jar. */
static const char *const environment[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG=C.UTF-8",
    "PYTHONUNBUFFERED=1",
    "PYTHONDONTWRITEBYTECODE=1",
    NULL,
};

/* --- on disk --- */

static void write_program(const struct site *s, const struct bench_program *p)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/files/%s", s->dir, p->file);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, p->code, p->code_len))
        bench_die(path, NULL);
}

static void make_dir(const struct site *s, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", s->dir, name);
    if (mkdir(path, 0755) < 0)
        bench_die(path, NULL);
}

void way_prepare(const struct site *s, const struct bench_program *programs, size_t n)
{
    struct err e;
    char path[512];
    make_dir(s, "files");
    for (size_t i = 0; i < n; i++)
        if (programs[i].file)
            write_program(s, &programs[i]);
    make_dir(s, "root");
    (void)snprintf(path, sizeof path, "%s/root", s->dir);
    autoclose int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autoclose int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || host < 0)
        bench_die(path, NULL);
    if (skeleton_build(host, root, &e))
        bench_die("build a root for the others", &e);
}

/* --- arguments --- */

static void add(struct way_command *c, const char *word)
{
    size_t n = 0;
    while (c->argv[n])
        n++;
    if (n + 1 == COMMAND_MAX)
        bench_dief("a command is too long");
    c->argv[n] = word;
}

static void add_all(struct way_command *c, const char *const *words)
{
    for (; *words; words++)
        add(c, *words);
}
#define ADD(c, ...) add_all((c), (const char *const[]){ __VA_ARGS__, NULL })

/* A formatted argument, stored in the command. */
[[gnu::format(printf, 2, 3)]] static const char *keep(struct way_command *c, const char *fmt, ...)
{
    va_list args;
    size_t used = 0;
    while (c->storage[used])
        used += strlen(c->storage + used) + 1;
    char *at = c->storage + used;
    size_t room = sizeof c->storage - used;
    va_start(args, fmt);
    int n = vsnprintf(at, room, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n + 2 > room)
        bench_dief("a command is too long");
    return at;
}

static void add_env(struct way_command *c, const char *pair)
{
    size_t n = 0;
    while (c->env[n])
        n++;
    if (n + 1 == COMMAND_ENV_MAX)
        bench_dief("a command has too many variables");
    c->env[n] = pair;
}

/* The caller chose another docker daemon. */
static void add_docker_host(struct way_command *c)
{
    const char *host = getenv("DOCKER_HOST");
    if (host && *host)
        add_env(c, keep(c, "DOCKER_HOST=%s", host));
}

/* The program itself, with its file at this path. */
static void add_program(struct way_command *c, const struct bench_program *p, const char *file)
{
    for (const char *const *word = p->language->command; *word; word++)
        add(c, strcmp(*word, FILE_ARGUMENT) == 0 ? file : *word);
}

static const char *inside(struct way_command *c, const struct bench_program *p)
{
    return p->file ? keep(c, "/sandbox/%s", p->file) : NULL;
}

/* The host directories that a jar shows: calls `each` with "/usr" and the others. */
static void each_bind(struct way_command *c, void (*bind)(struct way_command *c, const char *path))
{
    struct skeleton_binds found;
    autoclose int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    skeleton_find_binds(host, &found);
    for (size_t i = 0; i < found.n; i++)
        bind(c, keep(c, "/%s", found.paths[i]));
}

/* --- ways --- */

static void build_bare(struct way_command *c, const struct site *s, const struct bench_program *p)
{
    (void)s;
    add_program(c, p, c->file);
}

static void build_belljar(struct way_command *c, const struct site *s,
                          const struct bench_program *p)
{
    (void)p;
    add_env(c, s->state ? keep(c, "BELLJAR_STATE=%s", s->state)
                        : keep(c, "BELLJAR_STATE=%s/no-service", s->dir));
    ADD(c, s->belljar, "run", c->file);
}

static void add_bwrap_file(struct way_command *c, const struct bench_program *p)
{
    const char *file = inside(c, p);
    c->file_on_3 = file;
    if (file)
        ADD(c, "--file", "3", file);
    add_program(c, p, file);
}

static void bind_bwrap(struct way_command *c, const char *path)
{
    ADD(c, "--ro-bind", path, path);
}

/* The skeleton and the host directories of a jar; /proc, /dev and two empty directories as
 * bubblewrap makes them. */
static void build_bwrap(struct way_command *c, const struct site *s, const struct bench_program *p)
{
    ADD(c, "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", keep(c, "%s/root", s->dir),
        "/");
    each_bind(c, bind_bwrap);
    ADD(c, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/sandbox", "--chdir",
        "/sandbox");
    add_bwrap_file(c, p);
}

static void build_bwrap_usr(struct way_command *c, const struct site *s,
                            const struct bench_program *p)
{
    (void)s;
    ADD(c, "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr");
    static const char *const dirs[] = { "bin", "lib", "lib64" };
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        ADD(c, "--symlink", keep(c, "usr/%s", dirs[i]), keep(c, "/%s", dirs[i]));
    add_bwrap_file(c, p);
}

/* The names of our image and container in docker: lower case and unique. */
static const char *docker_name(struct way_command *c, const struct site *s)
{
    struct stat st;
    if (stat(s->dir, &st) < 0)
        bench_die(s->dir, NULL);
    return keep(c, "belljar-bench-%llu", (unsigned long long)st.st_ino);
}

static void bind_docker(struct way_command *c, const char *path)
{
    ADD(c, "-v", keep(c, "%s:%s:ro", path, path));
}

/* The default limits of a run of belljar. */
static void add_docker_run(struct way_command *c, const struct site *s, const char *option)
{
    ADD(c, "docker", "run", "--rm", option, "--network", "none", "--read-only", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges", "--memory", "256m", "--pids-limit", "64", "--cpus",
        "1", "--tmpfs", "/tmp", "-v", keep(c, "%s/files:/sandbox:ro", s->dir), "-w", "/sandbox");
    each_bind(c, bind_docker);
    for (const char *const *pair = environment; *pair; pair++)
        ADD(c, "-e", *pair);
}

static void build_docker_run(struct way_command *c, const struct site *s,
                             const struct bench_program *p)
{
    add_docker_host(c);
    add_docker_run(c, s, "--init=false");
    add(c, docker_name(c, s));
    add_program(c, p, inside(c, p));
}

static void build_docker_exec(struct way_command *c, const struct site *s,
                              const struct bench_program *p)
{
    add_docker_host(c);
    ADD(c, "docker", "exec", docker_name(c, s));
    add_program(c, p, inside(c, p));
}

static void build_runsc(struct way_command *c, const struct site *s, const struct bench_program *p)
{
    (void)s;
    ADD(c, "runsc", "--network=none", "do");
    add_program(c, p, c->file);
}

static void build_firejail(struct way_command *c, const struct site *s,
                           const struct bench_program *p)
{
    (void)s;
    ADD(c, "firejail", "--quiet", "--noprofile", "--net=none", "--caps.drop=all", "--nonewprivs",
        "--seccomp", "--private-dev", "--read-only=/");
    add_program(c, p, c->file);
}

/* --- preparation --- */

static bool do_quietly(struct way_command *c, char *why, size_t size)
{
    for (const char *const *pair = environment; *pair; pair++)
        add_env(c, *pair);
    add_docker_host(c);
    return command_try(c, why, size);
}

/* An image of the skeleton alone. The interpreters come from the host's /usr, so that every
 * contender runs the same files. */
static bool ready_docker_image(const struct site *s, char *why, size_t size)
{
    struct way_command pack = { 0 }, import = { 0 }, look = { 0 };
    ADD(&look, "docker", "image", "inspect", docker_name(&look, s));
    if (do_quietly(&look, why, size))
        return true;
    const char *tar = keep(&pack, "%s/root.tar", s->dir);
    ADD(&pack, "tar", "-C", keep(&pack, "%s/root", s->dir), "-cf", tar, ".");
    ADD(&import, "docker", "import", tar, docker_name(&import, s));
    return do_quietly(&pack, why, size) && do_quietly(&import, why, size);
}

/* The container ends by itself if no process is left to remove it. */
static bool ready_docker_container(const struct site *s, char *why, size_t size)
{
    struct way_command c = { 0 };
    if (!ready_docker_image(s, why, size))
        return false;
    add_docker_run(&c, s, "--detach");
    ADD(&c, "--name", docker_name(&c, s), docker_name(&c, s), "/bin/sleep", "1800");
    return do_quietly(&c, why, size);
}

static const struct way_def {
    void (*build)(struct way_command *c, const struct site *s, const struct bench_program *p);
    bool (*ready)(const struct site *s, char *why, size_t size); /* NULL: no preparation */
} ways[WAYS] = {
    [WAY_BARE] = { build_bare, NULL },
    [WAY_BWRAP] = { build_bwrap, NULL },
    [WAY_BWRAP_USR] = { build_bwrap_usr, NULL },
    [WAY_BELLJAR] = { build_belljar, NULL },
    [WAY_DOCKER_RUN] = { build_docker_run, ready_docker_image },
    [WAY_DOCKER_EXEC] = { build_docker_exec, ready_docker_container },
    [WAY_RUNSC] = { build_runsc, NULL },
    [WAY_FIREJAIL] = { build_firejail, NULL },
};

bool way_ready(const struct site *s, enum way way, char *why, size_t size)
{
    return !ways[way].ready || ways[way].ready(s, why, size);
}

void way_clean(const struct site *s)
{
    struct stat st;
    char path[512], why[64];
    (void)snprintf(path, sizeof path, "%s/root.tar", s->dir);
    if (stat(path, &st) < 0) /* docker was never used */
        return;
    struct way_command container = { 0 }, image = { 0 };
    ADD(&container, "docker", "rm", "-f", docker_name(&container, s));
    ADD(&image, "docker", "rmi", "-f", docker_name(&image, s));
    (void)do_quietly(&container, why, sizeof why);
    (void)do_quietly(&image, why, sizeof why);
}

void command_build(struct way_command *ret, const struct site *s, enum way way,
                   const struct bench_program *p)
{
    *ret = (struct way_command){ .says = p->says };
    for (const char *const *pair = environment; *pair; pair++)
        add_env(ret, *pair);
    if (p->file)
        (void)snprintf(ret->file, sizeof ret->file, "%s/files/%s", s->dir, p->file);
    ways[way].build(ret, s, p);
}
