#include "runtime/version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/place.h"

enum { PATIENCE_MS = 20000 };

void version_probe_open(struct version_probe *p)
{
    int ends[2];
    struct err ignored;
    *p = (struct version_probe)VERSION_PROBE_INIT;
    if (fd_pipe(ends, &ignored))
        return;
    p->fd = ends[0];
    p->its_fd = ends[1];
}

void version_probe_ask(struct version_probe *p, const struct language *l)
{
    char program[4200];
    posix_spawn_file_actions_t actions;
    autoclose int write_end = fd_take(&p->its_fd);
    if (write_end < 0 || !version_program(l->version[0], program, sizeof program) ||
        posix_spawn_file_actions_init(&actions) != 0)
        return;
    char locale[] = "LC_ALL=C";
    char *const clean[] = { locale, NULL };
    if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, write_end, 1) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawn(&p->pid, program, &actions, NULL, (char *const *)l->version, clean) != 0)
        p->pid = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
}

void version_probe_start(struct version_probe *p, const struct language *l)
{
    version_probe_open(p);
    version_probe_ask(p, l);
}

void version_probe_done(struct version_probe *p)
{
    fd_close(&p->fd);
    fd_close(&p->its_fd);
    if (p->pid > 0)
        (void)kill(p->pid, SIGKILL); /* it may go on after its answer */
    if (p->pid > 0)
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    p->pid = -1;
}

const char *version_cut(const char *text, size_t len, char *out, size_t size)
{
    char copy[VERSION_TEXT_MAX];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(len < sizeof copy ? len : sizeof copy - 1),
                   text);
    const char *digit = strpbrk(copy, "0123456789");
    if (!digit)
        return NULL;
    (void)snprintf(out, size, "%.*s", (int)strspn(digit, "0123456789."), digit);
    return out;
}

/* Reads the answer until the program ends or the time is up, because a declared program may hang.
 * Bytes that are already there are read even after that time, so that one hanging program does not
 * cost another its answer. */
static size_t read_until(int fd, uint64_t due_ms, char *text, size_t size)
{
    size_t len = 0;
    while (fd >= 0 && len < size) {
        uint64_t now = clock_ms();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, now < due_ms ? (int)(due_ms - now) : 0) <= 0)
            break;
        ssize_t n = read(fd, text + len, size - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    return len;
}

const char *version_probe_read(int fd, char *out, size_t size)
{
    char text[VERSION_TEXT_MAX];
    size_t n = read_until(fd, clock_ms() + PATIENCE_MS, text, sizeof text);
    return n > 0 ? version_cut(text, n, out, size) : NULL;
}

const char *version_program(const char *word, char *out, size_t size)
{
    struct err ignored;
    char name[256];
    if (strncmp(word, "{guest}/", 8) != 0) {
        (void)snprintf(out, size, "%s", word);
        return out;
    }
    (void)snprintf(name, sizeof name, "%s/%s", GUEST_DIR, word + 8);
    return place_find(name, out, size, &ignored) ? NULL : out;
}

bool version_program_exists(const struct language *l)
{
    struct stat st;
    char program[4200];
    return version_program(l->version[0], program, sizeof program) && stat(program, &st) == 0;
}

void versions_ask(char (*ret)[VERSION_SIZE])
{
    struct version_probe probes[LANGUAGES_MAX];
    char text[VERSION_TEXT_MAX];
    size_t n = 0;
    for (; languages[n]; n++)
        version_probe_start(&probes[n], languages[n]);
    uint64_t due = clock_ms() + PATIENCE_MS;
    for (size_t i = 0; i < n; i++) {
        size_t len = read_until(probes[i].fd, due, text, sizeof text);
        ret[i][0] = '\0';
        (void)version_cut(text, len, ret[i], VERSION_SIZE);
        version_probe_done(&probes[i]);
    }
}
