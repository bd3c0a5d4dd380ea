#include "guests.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "jars_bench.h"
#include "spec/bundle.h"
#include "spec/verdict.h"
#include "wire/wire.h"

static ssize_t listen_to(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct guest *g = context;
    size_t room = sizeof g->output - 1 - g->said_len, take = n < room ? n : room;
    if (stream != RUN_STDOUT)
        return (ssize_t)n;
    memcpy(g->output + g->said_len, bytes, take);
    g->said_len += take;
    g->output[g->said_len] = '\0';
    return (ssize_t)n;
}

static int bundle_of(const struct bench_program *p)
{
    scoped(buf) bytes = { 0 };
    struct err e;
    int fd;
    if (p->file && bundle_add(&bytes, p->file, 0755, p->code, p->code_len, &e))
        bench_die("bundle", &e);
    if (fd_sealed_memory("bench", &bytes, &fd, &e))
        bench_die("bundle", &e);
    return fd;
}

void guest_start(struct guest *g, const struct warden *w, uint64_t id,
                 const struct bench_program *p, const struct limits *limits)
{
    struct err e = { 0 };
    *g = (struct guest){ .sent_us = clock_us() };
    autoclose int bundle = bundle_of(p);
    struct jar_request request = { .id = id,
                                   .language = p->language,
                                   .main_name = p->file ? p->file : "none",
                                   .limits = *limits,
                                   .bundle_fd = bundle };
    if (jar_run_start(&g->run, w->fd, &w->isolation, &request, listen_to, g, &e))
        bench_die("start a jar", &e);
}

void guest_done(struct guest *g)
{
    jar_run_done(&g->run);
}

double guest_ms(const struct guest *g)
{
    return (double)(g->over_us - g->sent_us) / 1000;
}

static struct guest *guest_by_id(struct guest *guests, size_t n, uint64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (guests[i].run.id == id && guests[i].sent_us && !guests[i].run.ended)
            return &guests[i];
    bench_die("the warden speaks of a run that is not there", NULL);
}

/* run/jar_run.h reads the wire for one run alone; here many share it, so each message goes to the
 * run it names. */
static void read_wire(const struct warden *w, struct guest *guests, size_t n)
{
    struct wire_message m;
    struct wire_ended ended;
    struct err e = { 0 };
    struct wire_started started;
    if (wire_receive(w->fd, &m, &e) <= 0)
        bench_die("the warden is gone", &e);
    if (m.type == WIRE_STARTED) {
        if (wire_read_started(&m, &started, &e))
            bench_die("read the wire", &e);
        struct guest *g = guest_by_id(guests, n, started.id);
        g->started_us = clock_us();
        g->run.started = true;
        return;
    }
    if (wire_read_ended(&m, &ended, &e))
        bench_die("read the wire", &e);
    struct guest *g = guest_by_id(guests, n, ended.id);
    g->ended_us = clock_us();
    g->run.end = ended;
    g->run.ended = true;
    fd_close(&g->run.stdin_fd);
}

static void read_pipes(struct guest *g, struct pollfd polls[JAR_RUN_POLLS])
{
    struct err e = { 0 };
    if (g->over || !g->sent_us)
        return;
    polls[0].revents = 0; /* the wire: read_wire() has seen to it */
    if (jar_run_ready(&g->run, polls, &e))
        bench_die("run a jar", &e);
    if (jar_run_is_over(&g->run)) {
        g->over = true;
        g->over_us = clock_us();
    }
}

void guests_step(const struct warden *w, struct guest *guests, size_t n, int timeout_ms)
{
    autofree struct pollfd *polls = calloc(n * JAR_RUN_POLLS + 1, sizeof *polls);
    if (!polls)
        bench_die("memory", NULL);
    for (size_t i = 0; i < n; i++) {
        struct pollfd *mine = &polls[i * JAR_RUN_POLLS];
        jar_run_polls(&guests[i].run, mine);
        for (int k = 0; k < JAR_RUN_POLLS; k++)
            if (k == 0 || guests[i].over || !guests[i].sent_us)
                mine[k].fd = -1;
    }
    struct pollfd *wire = &polls[n * JAR_RUN_POLLS];
    *wire = (struct pollfd){ .fd = w->fd, .events = POLLIN };
    if (poll(polls, n * JAR_RUN_POLLS + 1, timeout_ms) < 0) {
        if (errno == EINTR)
            return;
        bench_die("poll", NULL);
    }
    while (wire->revents) {
        read_wire(w, guests, n);
        if (poll(wire, 1, 0) < 0)
            bench_die("poll", NULL);
    }
    for (size_t i = 0; i < n; i++)
        read_pipes(&guests[i], &polls[i * JAR_RUN_POLLS]);
}

double guest_once(const struct warden *w, uint64_t id, const struct bench_program *p)
{
    static struct guest g; /* too large for the stack */
    struct limits limits = limits_default();
    guest_start(&g, w, id, p, &limits);
    while (!g.over)
        guests_step(w, &g, 1, -1);
    double ms = guest_ms(&g);
    if (jar_run_verdict(&g.run) != VERDICT_OK)
        bench_die(verdict_word(jar_run_verdict(&g.run)), &g.run.end.err);
    if (strcmp(g.output, p->says) != 0)
        bench_die("a jar said something else", NULL);
    guest_done(&g);
    return ms;
}
