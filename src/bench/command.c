#include "bench/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "bench/die.h"

enum { PATIENCE_MS = 30000, SAID_MAX = 256 };

static pid_t spawn(const struct way_command *c, int out_fd, int err_fd)
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, out_fd, 1) != 0 ||
        (err_fd >= 0 && posix_spawn_file_actions_adddup2(&actions, err_fd, 2) != 0) ||
        (c->file_on_3 && posix_spawn_file_actions_addopen(&actions, 3, c->file, O_RDONLY, 0) != 0))
        bench_die("prepare a command", NULL);
    errno = posix_spawnp(&pid, c->argv[0], &actions, NULL, (char *const *)c->argv,
                         (char *const *)c->env);
    int failed = errno;
    (void)posix_spawn_file_actions_destroy(&actions);
    errno = failed;
    return failed ? -1 : pid;
}

/* A running command. It ends when its output ends. */
struct running {
    pid_t pid;
    int out;
    char said[SAID_MAX];
    size_t said_len;
};

static int start(struct running *ret, const struct way_command *c, int err_fd)
{
    int ends[2];
    struct err e;
    if (fd_pipe(ends, &e))
        bench_die("pipe", &e);
    pid_t pid = spawn(c, ends[1], err_fd);
    int failed = errno;
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        errno = failed;
        return -1;
    }
    *ret = (struct running){ .pid = pid, .out = ends[0] };
    return 0;
}

/* Reads the available output; true at its end. Output beyond the buffer is dropped; no program
 * prints so much. */
static bool read_output(struct running *r)
{
    char more[SAID_MAX];
    ssize_t n = read(r->out, more, sizeof more);
    if (n < 0 && errno == EINTR)
        return false;
    if (n <= 0)
        return true;
    size_t room = sizeof r->said - 1 - r->said_len;
    size_t kept = (size_t)n < room ? (size_t)n : room;
    memcpy(r->said + r->said_len, more, kept);
    r->said_len += kept;
    return false;
}

/* Waits for the end; -1 if the output or the status is not as expected. *ret_status is
 * waitpid's. */
static int finish(struct running *r, const struct way_command *c, int *ret_status)
{
    struct pollfd p = { .fd = r->out, .events = POLLIN };
    uint64_t deadline = clock_ms() + PATIENCE_MS;
    for (bool over = false; !over;) {
        uint64_t now = clock_ms();
        int got = now < deadline ? poll(&p, 1, (int)(deadline - now)) : 0;
        if (got == 0) {
            (void)kill(r->pid, SIGKILL);
            break;
        }
        over = got > 0 && read_output(r);
    }
    fd_close(&r->out);
    if (waitpid(r->pid, ret_status, 0) < 0)
        bench_die("waitpid", NULL);
    r->said[r->said_len] = '\0';
    return *ret_status == 0 && (!c->says || strcmp(r->said, c->says) == 0) ? 0 : -1;
}

[[gnu::noreturn]] static void die_of(const struct way_command *c, const struct running *r,
                                     int status)
{
    bench_dief("%s %s: wait status %d, output '%s'", c->argv[0], c->argv[1] ? c->argv[1] : "",
               status, r->said);
}

double command_once(const struct way_command *c)
{
    struct running r;
    int status;
    uint64_t begin = clock_us();
    if (start(&r, c, -1))
        bench_die(c->argv[0], NULL);
    if (finish(&r, c, &status))
        die_of(c, &r, status);
    return (double)(clock_us() - begin) / 1000;
}

/* The last line with content in the file of its stderr. */
static void last_line(int fd, char *out, size_t size)
{
    char text[4096];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    for (size_t len = strlen(text); len > 0 && text[len - 1] == '\n'; len--)
        text[len - 1] = '\0';
    const char *line = strrchr(text, '\n');
    (void)snprintf(out, size, "%s", line ? line + 1 : text);
}

bool command_try(const struct way_command *c, char *why, size_t size)
{
    struct running r;
    int status;
    char line[200];
    autoclose int err = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (start(&r, c, err)) {
        (void)snprintf(why, size, "%s", errno == ENOENT ? "not installed" : strerror(errno));
        return false;
    }
    if (finish(&r, c, &status) == 0)
        return true;
    last_line(err, line, sizeof line);
    if (line[0])
        (void)snprintf(why, size, "%s", line);
    else if (WIFSIGNALED(status))
        (void)snprintf(why, size, "ended by signal %d", WTERMSIG(status));
    else
        (void)snprintf(why, size, "exit status %d, said '%s'", WEXITSTATUS(status), r.said);
    return false;
}

pid_t command_start(const struct way_command *c)
{
    autoclose int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0)
        bench_die("/dev/null", NULL);
    pid_t pid = spawn(c, null, -1);
    if (pid < 0)
        bench_die(c->argv[0], NULL);
    return pid;
}

static double children_cpu_ms(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_CHILDREN, &u) < 0)
        bench_die("getrusage", NULL);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

static void start_in(struct running *r, struct pollfd *p, const struct way_command *c)
{
    if (start(r, c, -1))
        bench_die(c->argv[0], NULL);
    *p = (struct pollfd){ .fd = r->out, .events = POLLIN };
}

struct command_rate command_rate(const struct way_command *c, size_t at_once, double seconds,
                                 size_t at_least)
{
    struct command_rate got = { .cpu_ms = -children_cpu_ms() };
    autofree struct running *all = calloc(at_once, sizeof *all);
    autofree struct pollfd *polls = calloc(at_once, sizeof *polls);
    if (!all || !polls)
        bench_die("memory", NULL);
    uint64_t begin = clock_us(), end = begin + (uint64_t)(seconds * 1e6);
    size_t alive = at_once;
    for (size_t i = 0; i < at_once; i++)
        start_in(&all[i], &polls[i], c);
    while (alive > 0) {
        if (poll(polls, at_once, PATIENCE_MS) <= 0)
            bench_dief("%s: no end within %d ms", c->argv[0], PATIENCE_MS);
        for (size_t i = 0; i < at_once; i++) {
            int status;
            if (!polls[i].revents || !read_output(&all[i]))
                continue;
            if (finish(&all[i], c, &status))
                die_of(c, &all[i], status);
            got.runs++;
            polls[i].fd = -1;
            uint64_t now = clock_us();
            if (got.busy_runs == 0 && (now < end || got.runs < at_least)) {
                start_in(&all[i], &polls[i], c);
                continue;
            }
            alive--;
            if (got.busy_runs == 0) {
                got.busy_runs = got.runs;
                got.busy_s = (double)(now - begin) / 1e6;
            }
        }
    }
    got.cpu_ms += children_cpu_ms();
    return got;
}
