/* bench/part_history.c — the cost of a run after many others: services that differ only in the
 * length of their histories take turns. The rows are copies of one row that the service wrote, with
 * their own ids, times and audit records. */
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/id.h"
#include "bench/bench.h"
#include "bench/die.h"
#include "bench/load.h"
#include "store/audit_log.h"
#include "store/run_rows.h"

enum { HISTORIES_MAX = 5, ROWS_A_SECOND = 100 };

struct history {
    size_t rows;
    struct bench_service service;
    struct load_client *visitor;
    struct series ms;
};

static struct db *database(const struct bench_service *s, enum db_mode mode)
{
    char dir[512];
    struct db *db;
    struct err e = { 0 };
    (void)snprintf(dir, sizeof dir, "%s/data", s->state);
    if (db_open(&db, dir, mode, &e))
        bench_die("open a history", &e);
    return db;
}

/* The one run that a service made, as read from its history. */
static void read_model(struct db *db, struct run_record *ret)
{
    struct err e = { 0 };
    scoped(run_records) rows = { 0 };
    const struct run_query q = { .limit = 1 };
    if (runs_list(db, &q, &rows, &e))
        bench_die("read a history", &e);
    if (rows.n != 1)
        bench_dief("the history of a service that ran something is empty");
    if (runs_get(db, rows.rows[0].id, RUN_WITH_JOURNAL | RUN_WITH_FILES, ret, &e))
        bench_die("read a history", &e);
}

static int add_row(struct db *db, const struct run_record *model, int64_t at_ms, struct err *e)
{
    char id[ID_SIZE];
    struct run_record row = *model; /* borrows its texts */
    id_make("run_", id);
    row.id = id;
    row.state = RUN_QUEUED;
    row.created_ms = row.started_ms = row.finished_ms = at_ms;
    const struct audit_record accepted = {
        .time_ms = at_ms,
        .kind = "run.accepted",
        .subject = id,
        .actor = "anonymous",
        .detail = "{\"language\":\"python\",\"surface\":\"v1\"}"
    };
    const struct audit_record finished = { .time_ms = at_ms,
                                           .kind = "run.finished",
                                           .subject = id,
                                           .actor = "anonymous",
                                           .detail = "{\"verdict\":\"ok\",\"exit_code\":0}" };
    if (runs_insert(db, &row, e) || audit_append(db, &accepted, e))
        return -1;
    row.request = row.code = NULL; /* not edited */
    return runs_finish(db, &row, e) || audit_append(db, &finished, e) ? -1 : 0;
}

/* In one transaction, while no service uses the database. */
static void fill(const struct bench_service *s, size_t rows)
{
    struct err e = { 0 };
    scoped(run_record) model = { 0 };
    struct db *db = database(s, DB_WRITE);
    read_model(db, &model);
    int64_t first_ms = clock_unix_ms() - (int64_t)(rows * 1000 / ROWS_A_SECOND);
    if (db_begin(db, &e))
        bench_die("fill a history", &e);
    for (size_t i = 0; i < rows; i++)
        if (add_row(db, &model, first_ms + (int64_t)(i * 1000 / ROWS_A_SECOND), &e))
            bench_die("fill a history", &e);
    if (db_commit(db, &e))
        bench_die("fill a history", &e);
    db_close(db);
}

static void prepare(struct bench *b, struct history *h)
{
    char name[40];
    (void)snprintf(name, sizeof name, "history-%zu", h->rows);
    service_start(&h->service, &b->site, name, SERVICE_WARM, NULL);
    struct load_client *v = load_client_new(h->service.port);
    (void)load_client_run(v, &b->programs[WORK_PYTHON], NULL);
    load_client_free(v);
    service_stop(&h->service);
    fill(&h->service, h->rows);
    service_start(&h->service, &b->site, name, SERVICE_WARM, NULL);
    service_settle(&h->service);
    h->visitor = load_client_new(h->service.port);
}

static void take_turns(struct bench *b, struct history *all, size_t n)
{
    size_t order[HISTORIES_MAX];
    for (size_t round = 0; round <= b->plan.history_rounds; round++) {
        bench_shuffle(order, n);
        for (size_t i = 0; i < n; i++) {
            struct history *h = &all[order[i]];
            service_settle(&h->service); /* so that all start in the same state */
            double ms = load_client_run(h->visitor, &b->programs[WORK_PYTHON], NULL);
            if (round > 0)
                series_add(&h->ms, ms);
        }
    }
}

void part_history(struct bench *b)
{
    struct history all[HISTORIES_MAX] = { 0 };
    size_t n = 1;
    bench_stop_services(b); /* the pools of these services are enough for the machine */
    while (n < HISTORIES_MAX && b->plan.history[n - 1]) {
        all[n].rows = b->plan.history[n - 1];
        n++;
    }
    for (size_t i = 0; i < n; i++)
        prepare(b, &all[i]);
    take_turns(b, all, n);
    report_section(b->report, "a Python run over HTTP, by the length of the history");
    for (size_t i = 0; i < n; i++) {
        char name[60];
        (void)snprintf(name, sizeof name, "%zu runs before", all[i].rows);
        report_series(b->report, name, &all[i].ms, &all[0].ms);
    }
    report_metric(b->report, "history_over_empty", series_ratio(&all[n - 1].ms, &all[0].ms).all);
    for (size_t i = 0; i < n; i++) {
        load_client_free(all[i].visitor);
        service_stop(&all[i].service);
        series_done(&all[i].ms);
    }
}
