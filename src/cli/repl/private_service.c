#include "cli/repl/private_service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/process.h"
#include "base/text.h"
#include "base/tree.h"
#include "cli/run/remote.h"

enum { START_MS = 60000, STEP_MS = 10, ASK_MS = 50, STOP_MS = 60000, REMOVE_MS = 10000 };

/* A file of this name in the directory: the service has ended. */
static const char ended_name[] = "ended";

static void pause_ms(int ms)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* ---- the guard ---- */

static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

[[gnu::noreturn]]
static void be_service(const struct private_service *p, pid_t guard)
{
    char listen[200], log[160];
    sigset_t none;
    struct err e;
    (void)snprintf(listen, sizeof listen, "unix:%s/own.sock", p->state);
    (void)snprintf(log, sizeof log, "%s/log", p->directory);
    (void)unsetenv("OUTPUT_DATA_PATH"); /* its files are in its own directory */
    const char *argv[12 + 2 * PRIVATE_SET_MAX + 1] = {
        "belljar",  "serve",
        "--state",  p->state,
        "--listen", listen,
        "--set",    "pools.preload=used",
        "--set",    p->network ? "network.max=full" : "network.max=none",
        "--set",    p->mcp ? "doors.mcp=on" : "doors.mcp=off",
    };
    for (size_t i = 0; p->set && p->set[i] && i < PRIVATE_SET_MAX; i++) {
        argv[12 + 2 * i] = "--set";
        argv[13 + 2 * i] = p->set[i];
    }
    int fd = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    sigemptyset(&none);
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        (void)signal(ignored[i], SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (fd >= 0 && getppid() == guard && process_null_fds(3, &e) == 0 && dup2(fd, 2) == 2)
        (void)execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

/* The second request that the service hears ends it at once, without waiting for cells. Two that it
 * has not heard yet are one, so they are repeated. */
static void end_service(pid_t service)
{
    for (uint64_t start = clock_ms(); waitpid(service, NULL, WNOHANG) == 0; pause_ms(ASK_MS))
        (void)kill(service, clock_ms() - start < STOP_MS ? SIGTERM : SIGKILL);
}

/* The last processes of a service that was killed may still write there. */
static int remove_directory(const struct private_service *p)
{
    struct err e;
    int rc = tree_remove(AT_FDCWD, p->directory, &e);
    for (uint64_t start = clock_ms(); rc && clock_ms() - start < REMOVE_MS; pause_ms(ASK_MS))
        rc = tree_remove(AT_FDCWD, p->directory, &e);
    return rc;
}

/* Until main is gone. Main sees in the directory that the service has ended. */
static void watch(const struct private_service *p, pid_t service, int life_fd, int signal_fd)
{
    struct pollfd polls[] = { { life_fd, POLLIN, 0 }, { signal_fd, POLLIN, 0 } };
    char name[sizeof p->directory + sizeof ended_name];
    (void)snprintf(name, sizeof name, "%s/%s", p->directory, ended_name);
    while (polls[0].revents == 0) {
        (void)poll(polls, ARRAY_LEN(polls), -1);
        if (polls[1].revents == 0 || waitpid(service, NULL, WNOHANG) == 0)
            continue;
        autoclose int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        polls[1].fd = -1;
        service = 0;
    }
    if (service > 0)
        end_service(service);
}

[[gnu::noreturn]]
static void be_guard(const struct private_service *p, int life_fd)
{
    sigset_t children;
    int signal_fd = -1;
    struct err e;
    (void)prctl(PR_SET_NAME, "belljar-guard", 0, 0, 0);
    (void)setsid(); /* the keys of the terminal are meant for main */
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (fd_keep_only(&life_fd, 1, &e) == 0 && process_null_fds(3, &e) == 0 &&
        process_watch_signals(&children, &signal_fd, &e) == 0) {
        pid_t guard = getpid(), service = fork();
        if (service == 0)
            be_service(p, guard);
        watch(p, service, life_fd, signal_fd);
    }
    _exit(remove_directory(p) ? 127 : 0);
}

/* ---- main's side ---- */

static int make_directory(struct private_service *p, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(p->directory, sizeof p->directory, "%s/belljar-private-XXXXXX",
                     tmp && *tmp == '/' ? tmp : "/tmp");
    /* The path of a socket is short. */
    if (n < 0 || n > 80)
        (void)snprintf(p->directory, sizeof p->directory, "/tmp/belljar-private-XXXXXX");
    if (!mkdtemp(p->directory)) {
        int why = errno;
        char name[sizeof p->directory];
        (void)snprintf(name, sizeof name, "%s", p->directory);
        p->directory[0] = '\0';
        return err_set(e, ERR_KERNEL, why, "make the directory '%s'", QUOTED(name));
    }
    /* The keeper of the service has a uid of its own and must reach its data. */
    if (chmod(p->directory, 0711) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the directory '%s'", QUOTED(p->directory));
    (void)snprintf(p->state, sizeof p->state, "%s/state", p->directory);
    return 0;
}

/* The last line of its log says why. */
static int refuse(const struct private_service *p, struct err *e)
{
    char log[160], text[2048];
    (void)snprintf(log, sizeof log, "%s/log", p->directory);
    ssize_t n = fd_read_file(AT_FDCWD, log, text, sizeof text);
    const char *line = n > 0 ? text_trim(text) : "it wrote nothing to its log";
    const char *last = strrchr(line, '\n');
    return err_set(e, ERR_UNAVAILABLE, 0, "no private service could be started: %s",
                   QUOTED(last ? last + 1 : line));
}

static int wait_ready(struct private_service *p, struct err *e)
{
    uint64_t start = clock_ms();
    char ended[sizeof p->directory + sizeof ended_name];
    for (; clock_ms() - start < START_MS; pause_ms(STEP_MS)) {
        struct client *c = NULL;
        const struct service_choice at = { .state = p->state };
        int rc = remote_connect(&at, &c, e);
        client_done(&c);
        if (rc != REMOTE_NONE)
            return rc;
        (void)snprintf(ended, sizeof ended, "%s/%s", p->directory, ended_name);
        autoclose int fd = open(ended, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            break;
    }
    return refuse(p, e);
}

int private_service_start(struct private_service *p, struct err *e)
{
    int life[2];
    if (make_directory(p, e) || fd_pipe(life, e))
        return -1;
    p->guard = fork();
    if (p->guard == 0) {
        (void)close(life[1]);
        be_guard(p, life[0]);
    }
    (void)close(life[0]);
    p->life_fd = life[1];
    if (p->guard < 0)
        return err_set(e, ERR_KERNEL, errno, "start a private service");
    return wait_ready(p, e);
}

void private_service_done(struct private_service *p)
{
    struct err e;
    fd_close(&p->life_fd);
    if (p->guard > 0)
        (void)waitpid(p->guard, NULL, 0);
    else if (p->directory[0])
        (void)!tree_remove(AT_FDCWD, p->directory, &e);
    p->guard = 0;
    p->directory[0] = '\0';
}
