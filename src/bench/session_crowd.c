/* bench/session_crowd.c — many idle sessions and some busy ones on one service. A busy session gets
 * a cell twenty times a second. Another service has one session, which gets the same cells at the
 * same pace. They take turns. */
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "bench/die.h"
#include "bench/session_bench.h"

enum { BUSY = 8, EVERY_US = 50000, SLICES = 5 };
#define CELL "{\"code\": \"1+1\"}"
#define SAYS "\"result\":{\"text/plain\":\"2\"}"

struct crowd {
    struct bench_service service;
    struct bench_session *idle;
    size_t n_idle;
    struct bench_session busy[BUSY];
    const char *paths[BUSY];
    struct series ms, full_speed;
};

static void crowd_gather(struct crowd *c, struct bench *b, struct load_client *v)
{
    c->n_idle = b->plan.idle_sessions;
    c->idle = calloc(c->n_idle, sizeof *c->idle);
    if (!c->idle)
        bench_die("memory", NULL);
    for (size_t i = 0; i < c->n_idle; i++) {
        char json[64];
        (void)bench_session_new(v, "python", &c->idle[i]);
        (void)snprintf(json, sizeof json, "{\"code\": \"mine = %zu\"}", i);
        (void)bench_session_cell(v, &c->idle[i], json, NULL);
    }
    for (size_t i = 0; i < BUSY; i++) {
        (void)bench_session_new(v, "python", &c->busy[i]);
        c->paths[i] = c->busy[i].exec_path;
    }
}

/* The number of idle sessions that do not have their own variable any longer. */
static size_t crowd_unanswered(const struct crowd *c, struct load_client *v)
{
    size_t wrong = 0;
    for (size_t i = 0; i < c->n_idle; i++) {
        json_t *answer, *result;
        (void)bench_session_cell(v, &c->idle[i], "{\"code\": \"mine\"}", &answer);
        result = json_object_get(json_object_get(answer, "result"), "text/plain");
        const char *text = json_string_value(result);
        wrong += !text || strtoul(text, NULL, 10) != i;
        json_decref(answer);
    }
    return wrong;
}

static void tell(struct bench *b, const struct crowd *c, const struct series *alone, size_t wrong)
{
    char title[120];
    double p95 = series_stats(alone).p95;
    (void)snprintf(title, sizeof title, "%zu idle sessions and %d busy ones, 1+1", c->n_idle, BUSY);
    report_section(b->report, title);
    report_series(b->report, "one session alone, 20 cells a second", alone, alone);
    report_series(b->report, "each of the busy ones, 20 cells a second", &c->ms, alone);
    report_series(b->report, "each of the busy ones, at full speed", &c->full_speed, alone);
    report_fact(b->report, "p95 of one session alone", p95, "ms");
    report_fact(b->report, "p95 of the busy ones", series_stats(&c->ms).p95, "ms");
    report_fact(b->report, "p95 of the busy ones at full speed, over that of one alone",
                series_stats(&c->full_speed).p95 / p95, "x");
    report_metric(b->report, "sessions_busy_over_alone", series_stats(&c->ms).p95 / p95);
    report_metric(b->report, "sessions_unanswered", (double)wrong);
}

void session_crowd(struct bench *b)
{
    struct crowd c = { 0 };
    struct bench_session one = { 0 };
    struct series alone = { 0 };
    const struct bench_service *quiet = bench_service(b, SERVICE_WARM);
    service_start(&c.service, &b->site, "crowd", SERVICE_WARM, "sessions.max_per_key=900");
    service_settle(&c.service);
    struct load_client *v = load_client_new(c.service.port), *w = load_client_new(quiet->port);
    crowd_gather(&c, b, v);
    (void)bench_session_new(w, "python", &one);
    const char *const path[] = { one.exec_path };
    struct load_paced l = {
        .each = b->plan.busy_cells, .json = CELL, .says = SAYS, .every_us = EVERY_US
    };
    for (size_t i = 0; i < SLICES; i++) {
        l.port = quiet->port, l.clients = 1, l.paths = path;
        load_paced(&l, &alone);
        l.port = c.service.port, l.clients = BUSY, l.paths = c.paths;
        load_paced(&l, &c.ms);
    }
    l.every_us = 0;
    load_paced(&l, &c.full_speed);
    tell(b, &c, &alone, crowd_unanswered(&c, v));
    bench_session_end(w, &one);
    load_client_free(v);
    load_client_free(w);
    service_stop(&c.service);
    free(c.idle);
    series_done(&c.ms);
    series_done(&c.full_speed);
    series_done(&alone);
}
