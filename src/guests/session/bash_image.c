/* guests/session/bash_image.c — images of the shell of a bash session. A library that guest-bash
 * preloads into bash. Runs in: a jar, inside bash.
 *
 * Theory of operation. Between two cells bash waits in read(2) for the next byte of its script, which
 * is a pipe. Our read() hands every byte on, except one that no script of ours has: after it comes a
 * request of guest-bash. So a request is handled where the shell has no command in progress, and no
 * trap, trace or variable of the shell can tell that there was one. The answer goes to the status
 * socket and ends with a NUL. Descriptors come over the same socket, with one byte.
 *
 * Requests: "look", "write USED AT ROOM STATE" with the file of the image, the pipe for its report and
 * earlier images, and "become" with the image and the ones that it needs. STATE is guest-bash's own: the process that became the image hands it to
 * its own parent. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guests/session/bash_image.h"
#include "guests/session/descriptors.h"

/* Functions and variables of bash. */
extern pid_t dollar_dollar_pid __attribute__((weak));
extern pid_t shell_pgrp __attribute__((weak));
extern pid_t original_pgrp __attribute__((weak));
extern void set_ppid(void) __attribute__((weak));
extern void delete_all_jobs(int running_only) __attribute__((weak));
extern void sbrand(unsigned long seed) __attribute__((weak));

/* Bash calls this one in place of the C library's. */
[[gnu::visibility("default")]] ssize_t read_of_bash(int fd, void *bytes, size_t n) __asm__("read");

static const int role_numbers[] = { 0, 1, 2, BASH_SCRIPT_FD, BASH_CELL_FD, BASH_STATUS_FD };
enum { ROLES = sizeof role_numbers / sizeof role_numbers[0], SCRIPT_ROLE = 3, STATE_BYTES = 64 };

enum { FDS_MAX = 2 + IMAGE_BASES_MAX };
struct request_fds {
    int fds[FDS_MAX];
    size_t n;
    struct image_bases bases;
};

static struct descriptor_roles roles;
static pid_t shell; /* not a subshell */
static struct descriptor_plan plan;
static pid_t writers[BASH_WRITERS_MAX];
static size_t n_writers;

static void learn_roles(void)
{
    roles.n = ROLES;
    for (size_t i = 0; i < ROLES; i++)
        roles.is[i] = descriptor_identity_of(role_numbers[i]);
}

/* Programs that the shell starts are not preloaded: our name comes first in the variable. */
static void hide_preload(void)
{
    static const char name[] = "LD_PRELOAD=";
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, name, sizeof name - 1) != 0)
            continue;
        char *value = *e + sizeof name - 1, *rest = strchr(value, ':');
        size_t n = strlen(value), left = rest ? strlen(rest + 1) : 0;
        if (rest)
            memmove(value, rest + 1, left);
        memset(value + left, 0, n - left);
        if (left == 0) {
            memset(*e, 0, sizeof name - 1);
            for (char **gap = e; (*gap = gap[1]); gap++) {
            }
        }
        return;
    }
}

__attribute__((constructor)) static void begin(void)
{
    hide_preload();
    learn_roles();
    shell = getpid();
}

/* ---- answers ---- */

static void say(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(BASH_STATUS_FD, text, n);
        if (done < 0 && errno != EINTR)
            return;
        text += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
}

static void answer(const char *word, const char *text)
{
    char line[IMAGE_WHY + STATE_BYTES];
    int n = snprintf(line, sizeof line, "%s %s", word, text);
    say(line, (size_t)n < sizeof line ? (size_t)n + 1 : sizeof line);
}

static void say_loss(struct image_losses *l, const char *name)
{
    (void)l;
    char line[512];
    int n = snprintf(line, sizeof line, "%s", name);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    say(line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    say("\n", 1);
}

static void keep_quiet(struct image_losses *l, const char *name)
{
    (void)l;
    (void)name;
}

/* ---- requests ---- */

/* The descriptors that belong to the request: `least` of ours, then earlier images. -1 if they did not
 * come. */
static int take_descriptors(size_t least, struct request_fds *ret, char why[IMAGE_WHY])
{
    char byte;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = { &byte, 1 };
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got = recvmsg(BASH_STATUS_FD, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *h = got == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    size_t n = h && h->cmsg_type == SCM_RIGHTS ? (h->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    if (!h || n < least || n > FDS_MAX)
        return image_refuse(why, "the request came without its descriptors");
    memcpy(ret->fds, CMSG_DATA(h), n * sizeof(int));
    ret->n = n;
    for (size_t i = least; i < n && ret->bases.n < IMAGE_BASES_MAX; i++)
        ret->bases.fds[ret->bases.n++] = ret->fds[i];
    return 0;
}

static void close_descriptors(const struct request_fds *r)
{
    for (size_t i = 0; i < r->n; i++)
        (void)close(r->fds[i]);
}

static void reap_writers(void)
{
    size_t left = 0;
    for (size_t i = 0; i < n_writers; i++)
        if (!image_reap(writers[i]))
            writers[left++] = writers[i];
    n_writers = left;
}

static void look(const char *unused)
{
    char why[IMAGE_WHY] = "";
    struct image_losses losses = { .add = say_loss };
    (void)unused;
    reap_writers();
    if (descriptor_plan_make(&plan, &roles, NULL, 0, &losses, why))
        say_loss(&losses, why);
    descriptor_plan_free(&plan);
    say("", 1);
}

/* State of the shell that names its process or is a secret of it. */
static void renew_shell(void)
{
    unsigned long seed = 0;
    shell = getpid();
    n_writers = 0;
    if (&dollar_dollar_pid)
        dollar_dollar_pid = shell;
    if (&shell_pgrp && shell_pgrp != -1)
        shell_pgrp = getpgid(0);
    if (&original_pgrp && original_pgrp != -1)
        original_pgrp = getpgid(0);
    if (set_ppid)
        set_ppid();
    if (delete_all_jobs)
        delete_all_jobs(1);
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        _exit(1); /* no process is better than one that shares its secrets */
    if (sbrand)
        sbrand(seed);
}

static void went_on(uint64_t image_fd)
{
    struct descriptor_roles mine;
    learn_roles();
    mine = roles;
    descriptor_plan_restore(&plan, role_numbers, ROLES, (int)image_fd);
    roles = mine;
    renew_shell();
}

static void write_image(const char *words)
{
    static char state[STATE_BYTES];
    char why[IMAGE_WHY] = "the request is malformed", line[32];
    struct request_fds r = { 0 };
    unsigned used = 0;
    unsigned long long at = 0, room = 0;
    struct image_written w = { 0 };
    struct image_losses quiet = { .add = keep_quiet };
    int failed = sscanf(words, "%u %llu %llu %63[-0-9 ]", &used, &at, &room, state) != 4 ||
                 n_writers == BASH_WRITERS_MAX || take_descriptors(2, &r, why);
    uint64_t end = at;
    r.bases.used = used;
    failed = failed || descriptor_plan_make(&plan, &roles, r.fds, r.n, &quiet, why) ||
             descriptor_plan_store(&plan, r.fds[0], &end, room, why) ||
             image_write(r.fds[0], end, room, r.fds[1], &r.bases, &w, why);
    if (w.became)
        went_on(w.cookie);
    else
        close_descriptors(&r);
    descriptor_plan_free(&plan);
    if (!failed && !w.became)
        writers[n_writers++] = w.writer;
    (void)snprintf(line, sizeof line, "%d", (int)w.writer);
    if (failed)
        answer("failed", why);
    else
        answer(w.became ? "became" : "ok", w.became ? state : line);
}

static void become(const char *unused)
{
    char why[IMAGE_WHY] = "";
    struct request_fds r = { 0 };
    (void)unused;
    if (take_descriptors(1, &r, why) == 0)
        image_become(r.fds[0], &r.bases, (uint64_t)r.fds[0], why);
    close_descriptors(&r);
    answer("failed", why);
}

static void handle(const char *line)
{
    static const struct {
        const char *word;
        void (*run)(const char *words);
    } requests[] = { { "look", look }, { "write", write_image }, { "become", become } };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        size_t n = strlen(requests[i].word);
        if (strncmp(line, requests[i].word, n) == 0 && (line[n] == ' ' || line[n] == '\0'))
            requests[i].run(line + n);
    }
}

/* ---- the script ---- */

static bool is_script(int fd)
{
    struct descriptor_identity is = descriptor_identity_of(fd);
    return is.inode != 0 && is.inode == roles.is[SCRIPT_ROLE].inode &&
           is.device == roles.is[SCRIPT_ROLE].device && getpid() == shell;
}

/* No handler of the shell runs meanwhile: one for SIGCHLD could use the memory that we are using. */
static void take_request(int fd)
{
    sigset_t all, before;
    char line[256];
    size_t n = 0;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    while (n < sizeof line - 1 && syscall(SYS_read, fd, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
    handle(line);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

ssize_t read_of_bash(int fd, void *bytes, size_t n)
{
    for (;;) {
        ssize_t got = syscall(SYS_read, fd, bytes, n);
        if (got != 1 || *(const char *)bytes != BASH_REQUEST || !is_script(fd))
            return got;
        int saved = errno;
        take_request(fd);
        errno = saved;
    }
}
