#include "bench/bench_service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/load.h"

enum { STARTS_WITHIN_MS = 30000, ENDS_WITHIN_MS = 40000, SETTLES_WITHIN_MS = 3000 };

/* Beyond the defaults: room for 64 waiting clients and bursts of a hundred, space for a long
 * history, and time for a program on a busy machine. */
static const char *const common[] = { "runs.queue=1024", "history.max_bytes=64g",
                                      "limits.wall_ms=1m", NULL };
static const char *const cold[] = { "pools.max=0", NULL };
static const char *const none[] = { NULL };
static const char *const network[] = { "network.max=full",
                                       "network.private=203.0.113.0/24",
                                       "network.bytes_in=1024g",
                                       "network.connections_total=1000000",
                                       "runs.max=64",
                                       NULL };
static const char *const *const settings_of[SERVICE_KINDS] = {
    [SERVICE_NONE] = none,
    [SERVICE_WARM] = none,
    [SERVICE_COLD] = cold,
    [SERVICE_NETWORK] = network,
};

static void pause_ms(long ms)
{
    const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&t, NULL);
}

/* In the child, before exec. */
[[gnu::noreturn]] static void become_service(const struct bench_service *s, const struct site *site,
                                             const char *log, const char *setting)
{
    char workspace[512], path[64];
    const char *argv[24] = {
        site->belljar, "serve", "--state", s->state, "--listen", "127.0.0.1:0"
    };
    size_t n = 6;
    const char *const more[] = { setting, NULL };
    const char *const *const lists[] = { common, settings_of[s->kind], more };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const char *const *pair = lists[i]; *pair; pair++) {
            argv[n++] = "--set";
            argv[n++] = *pair;
        }
    (void)snprintf(workspace, sizeof workspace, "OUTPUT_DATA_PATH=%s.files", s->state);
    (void)snprintf(path, sizeof path, "PATH=/usr/local/bin:/usr/bin:/bin");
    char *const env[] = { path, workspace, NULL };
    int to = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    int from = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 && from >= 0 && dup2(from, 0) == 0 &&
        to >= 0 && dup2(to, 1) == 1 && dup2(to, 2) == 2)
        (void)execve(argv[0], (char *const *)argv, env);
    _exit(127);
}

/* Reads the port from its log once it listens. */
static unsigned await_port(const struct bench_service *s, const char *log)
{
    static const char ready[] = "service.ready listen=127.0.0.1:";
    char text[8192];
    for (uint64_t deadline = clock_ms() + STARTS_WITHIN_MS; clock_ms() < deadline;) {
        const char *at = fd_read_file(AT_FDCWD, log, text, sizeof text) > 0 ? strstr(text, ready)
                                                                            : NULL;
        if (at)
            return (unsigned)strtoul(at + sizeof ready - 1, NULL, 10);
        if (waitpid(s->pid, NULL, WNOHANG) != 0)
            break;
        const struct timespec moment = { .tv_nsec = 200000 };
        (void)nanosleep(&moment, NULL);
    }
    if (fd_read_file(AT_FDCWD, log, text, sizeof text) <= 0)
        text[0] = '\0';
    bench_dief("the service does not start:\n%s", text);
}

void service_start(struct bench_service *ret, const struct site *s, const char *name,
                   enum service_kind kind, const char *setting)
{
    char log[512];
    *ret = (struct bench_service){ .kind = kind };
    if ((size_t)snprintf(ret->state, sizeof ret->state, "%s/%s", s->dir, name) >= sizeof ret->state)
        bench_dief("%s/%s: the path is too long", s->dir, name);
    (void)snprintf(log, sizeof log, "%s.log", ret->state);
    (void)unlink(log); /* of an earlier one */
    (void)fflush(stdout);
    ret->started_us = clock_us();
    ret->pid = fork();
    if (ret->pid < 0)
        bench_die("fork", NULL);
    if (ret->pid == 0)
        become_service(ret, s, log, setting);
    ret->port = await_port(ret, log);
    struct load_client *v = load_client_new(ret->port);
    json_decref(load_client_get(v, "/v1/health"));
    ret->healthy_ms = (double)(clock_us() - ret->started_us) / 1000;
    load_client_free(v);
}

void service_stop(struct bench_service *s)
{
    if (s->pid <= 0)
        return;
    int status;
    (void)kill(s->pid, SIGTERM);
    for (uint64_t deadline = clock_ms() + ENDS_WITHIN_MS; clock_ms() < deadline; pause_ms(5)) {
        pid_t got = waitpid(s->pid, &status, WNOHANG);
        if (got == 0)
            continue;
        if (got < 0 || status != 0)
            bench_dief("the service ended with wait status %d: see %s.log", status, s->state);
        s->pid = 0;
        return;
    }
    bench_dief("the service does not end within %d ms of SIGTERM", ENDS_WITHIN_MS);
}

json_t *service_pools(const struct bench_service *s)
{
    struct load_client *v = load_client_new(s->port);
    json_t *stats = load_client_get(v, "/v1/stats");
    json_t *pools = json_incref(json_object_get(stats, "pools"));
    json_decref(stats);
    load_client_free(v);
    return pools;
}

/* NULL and anything but an object count as full; so does a pool that will never be. */
static bool pools_full(json_t *pools)
{
    const char *kind;
    json_t *pool;
    json_object_foreach(pools, kind, pool) {
        const char *zygote = json_string_value(json_object_get(pool, "zygote"));
        if ((!zygote || strcmp(zygote, "failed") != 0) &&
            json_integer_value(json_object_get(pool, "ready")) <
                json_integer_value(json_object_get(pool, "target")))
            return false;
    }
    return true;
}

void service_settle(const struct bench_service *s)
{
    for (uint64_t deadline = clock_ms() + SETTLES_WITHIN_MS; clock_ms() < deadline;) {
        pause_ms(30);
        json_t *pools = service_pools(s);
        bool full = pools_full(pools);
        json_decref(pools);
        if (full)
            return;
    }
}

bool service_parts(const struct bench_service *s, struct service_parts *ret)
{
    autofree struct host_tree *t = calloc(1, sizeof *t);
    if (!t)
        bench_die("memory", NULL);
    host_tree(s->pid, t);
    *ret = (struct service_parts){ 0 };
    for (size_t i = 1; i < t->n; i++) {
        if (t->all[i].parent != s->pid)
            continue;
        if (strcmp(t->all[i].name, "belljar-warden") == 0)
            ret->warden = t->all[i].pid;
        else if (strcmp(t->all[i].name, "belljar-porter") == 0)
            ret->porter = t->all[i].pid;
        else
            ret->keeper = t->all[i].pid;
    }
    return ret->keeper > 0 && ret->warden > 0;
}
