/* bench/part_large.c — one client sends requests of 15 MiB in a loop: how long do others wait for
 * /v1/health meanwhile? The client is a process of its own, so that it does not delay the clock. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/die.h"
#include "bench/load.h"

enum { BODY_BYTES = 15 << 20, PAUSE_US = 2000 };

/* The body is the head, the items and the tail; each item has its share of the bytes. */
static const struct large {
    const char *name, *path, *head, *before, *after, *tail;
    size_t items;
} kinds[] = {
    { "a run with a file", "/v1/runs", "{\"language\":\"python\",\"code\":\"pass\",\"files\":[",
      "{\"name\":\"a\",\"content\":\"", "\"}", "]}", 1 },
    { "a batch of 100", "/v1/batches", "{\"runs\":[", "{\"language\":\"python\",\"code\":\"#",
      "\"}", "]}", 100 },
    { "a comparison of 5", "/v1/comparisons", "{\"variants\":[",
      "{\"language\":\"python\",\"code\":\"#", "\"}", "]}", 5 },
    { "an artifact", "/api/artifacts/detect", "{\"content\":", "\"", "\"", "}", 1 },
};

static int add(struct buf *b, const char *text, struct err *e)
{
    return buf_add(b, text, strlen(text), e);
}

static int make_body(const struct large *k, struct buf *b, struct err *e)
{
    size_t each = BODY_BYTES / k->items;
    if (add(b, k->head, e))
        return -1;
    for (size_t i = 0; i < k->items; i++) {
        if (add(b, i ? "," : "", e) || add(b, k->before, e))
            return -1;
        for (size_t n = 0; n < each; n += 64)
            if (add(b, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789 abcde", e))
                return -1;
        if (add(b, k->after, e))
            return -1;
    }
    return add(b, k->tail, e);
}

_Noreturn static void send_for_ever(unsigned port, const struct large *k)
{
    struct err e = { 0 };
    scoped(buf) body = { 0 };
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    struct load_client *v = load_client_new(port);
    if (make_body(k, &body, &e))
        bench_die("make a large request", &e);
    for (;;) {
        json_t *answer = NULL;
        (void)load_client_ask(v, "POST", k->path, buf_str(&body), &answer);
        json_decref(answer);
    }
}

static void ask_health(unsigned port, uint64_t ms, struct series *waits)
{
    const struct timespec pause = { .tv_nsec = PAUSE_US * 1000L };
    struct load_client *v = load_client_new(port);
    for (uint64_t end = clock_ms() + ms; clock_ms() < end; (void)nanosleep(&pause, NULL)) {
        json_t *answer = NULL;
        series_add(waits, load_client_ask(v, "GET", "/v1/health", NULL, &answer));
        json_decref(answer);
    }
    load_client_free(v);
}

static void ask_beside(unsigned port, const struct large *k, uint64_t ms, struct series *waits)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        send_for_ever(port, k);
    if (pid < 0)
        bench_die("start a client", NULL);
    ask_health(port, ms, waits);
    if (waitpid(pid, &status, WNOHANG) != 0)
        bench_dief("the client that sends %s ended by itself", k->name);
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void part_large(struct bench *b)
{
    const struct bench_service *s = bench_service(b, SERVICE_WARM);
    double worst = 0;
    struct series alone = { 0 }; /* shows how busy the machine is */
    report_section(b->report, "/v1/health while one client sends requests of 15 MiB in a loop");
    ask_health(s->port, b->plan.large_ms, &alone);
    report_series(b->report, "no such client", &alone, &alone);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct series waits = { 0 };
        ask_beside(s->port, &kinds[i], b->plan.large_ms, &waits);
        report_series(b->report, kinds[i].name, &waits, &alone);
        double p99 = series_stats(&waits).p99;
        worst = p99 > worst ? p99 : worst;
        series_done(&waits);
    }
    series_done(&alone);
    report_metric(b->report, "health_beside_large_ms", worst);
}
