/* store/run_rows_list.c — lists of runs: chooses the index that a filter walks and builds the
 * query. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "store/run_columns.h"

/* The equality filters, the most selective first. SQLite has no statistics here, so the first
 * filter that is set uses its index and "+" keeps SQLite from using the indexes of the others. A
 * strong filter uses its index even if a time span is given. */
static const struct filter {
    const char *column;
    size_t offset;
    bool strong;
} filters[] = {
    { "r.batch", offsetof(struct run_query, batch), true },
    { "r.artifact", offsetof(struct run_query, artifact), true },
    { "r.thread", offsetof(struct run_query, thread), true },
    { "r.state", offsetof(struct run_query, state), true },
    { "r.api_key", offsetof(struct run_query, key), false },
    { "r.verdict", offsetof(struct run_query, verdict), false },
    { "r.language", offsetof(struct run_query, language), false },
    { "r.surface", offsetof(struct run_query, surface), false },
};
enum { FILTERS = ARRAY_LEN(filters), LIMIT_MAX = 1000 };

static const char *value_of(const struct run_query *q, const struct filter *f)
{
    return *(const char *const *)((const char *)q + f->offset);
}

/* The filter whose index is used. FILTERS: none, the order of acceptance or of time alone. */
struct plan {
    int walked;
    bool by_time;
    /* in order of time: created_ms of the run at the cursor; 0: no cursor, or that run is gone */
    int64_t before_ms;
};

/* Most runs are finished, so the partial index on the state leaves them out. */
static bool has_index(const struct filter *f, const char *value)
{
    return f->offset != offsetof(struct run_query, state) ||
           strcmp(value, run_state_word(RUN_FINISHED)) != 0;
}

static int make_plan(struct db *db, const struct run_query *q, struct plan *ret, struct err *e)
{
    struct plan p = { .walked = FILTERS };
    bool span = q->since_ms || q->until_ms;
    for (int i = 0; i < FILTERS && p.walked == FILTERS; i++) {
        const char *value = value_of(q, &filters[i]);
        if (value && has_index(&filters[i], value) && (filters[i].strong || !span))
            p.walked = i;
    }
    p.by_time = span && p.walked == FILTERS;
    if (p.by_time && q->before_seq) {
        scoped(query) at = { 0 };
        if (query_get(&at, db, SQL_RUN_CREATED, e))
            return -1;
        bind_int(&at, q->before_seq);
        int found = query_step(&at, e);
        if (found < 0)
            return -1;
        p.before_ms = found ? take_int(&at) : 0;
    }
    *ret = p;
    return 0;
}

static int add_where(struct buf *sql, const struct run_query *q, const struct plan *p,
                     struct err *e)
{
    for (int i = 0; i < FILTERS; i++) {
        if (value_of(q, &filters[i]) &&
            buf_addf(sql, e, " AND %s%s = ?", i == p->walked ? "" : "+", filters[i].column))
            return -1;
        /* Repeats the condition of the partial index, so that SQLite can use it. */
        if (i == p->walked && filters[i].offset == offsetof(struct run_query, state) &&
            buf_addf(sql, e, " AND r.state <> 'finished'"))
            return -1;
    }
    /* The cursor, if any, is the upper bound. */
    if ((q->key_since_ms && buf_addf(sql, e, " AND +r.created_ms >= ?")) ||
        (q->since_ms && buf_addf(sql, e, " AND %sr.created_ms >= ?", p->by_time ? "" : "+")) ||
        (q->until_ms &&
         buf_addf(sql, e, " AND %sr.created_ms < ?", p->by_time && !p->before_ms ? "" : "+")) ||
        (q->q && buf_addf(sql, e, " AND instr(i.code, ?) > 0")))
        return -1;
    if (p->before_ms)
        return buf_addf(sql, e, " AND (r.created_ms, r.seq) < (?, ?)");
    return q->before_seq ? buf_addf(sql, e, " AND r.seq < ?") : 0;
}

static int prepare(struct query *ret, struct db *db, const struct run_query *q,
                   const struct plan *p, unsigned limit, struct err *e)
{
    scoped(buf) sql = { 0 };
    if (buf_addf(&sql, e, "SELECT " RUN_COLUMNS " FROM runs r%s WHERE true",
                 q->q ? " CROSS JOIN run_input i ON i.seq = r.seq" : "") ||
        add_where(&sql, q, p, e) ||
        buf_addf(&sql, e, " ORDER BY %s LIMIT ?",
                 p->by_time ? "r.created_ms DESC, r.seq DESC" : "r.seq DESC") ||
        query_prepare(ret, db, buf_str(&sql), e))
        return -1;
    for (int i = 0; i < FILTERS; i++)
        if (value_of(q, &filters[i]))
            bind_text(ret, value_of(q, &filters[i]));
    if (q->key_since_ms)
        bind_int(ret, q->key_since_ms);
    if (q->since_ms)
        bind_int(ret, q->since_ms);
    if (q->until_ms)
        bind_int(ret, q->until_ms);
    if (q->q)
        bind_text(ret, q->q);
    if (p->before_ms)
        bind_int(ret, p->before_ms);
    if (q->before_seq)
        bind_int(ret, q->before_seq);
    bind_int(ret, (int64_t)limit + 1); /* one more row shows whether there is a next page */
    return 0;
}

void run_records_done(struct run_records *r)
{
    for (size_t i = 0; i < r->n; i++)
        run_record_done(&r->rows[i]);
    free(r->rows);
    *r = (struct run_records){ 0 };
}

int runs_list(struct db *db, const struct run_query *q, struct run_records *ret, struct err *e)
{
    scoped(run_records) list = { 0 };
    scoped(query) rows = { 0 };
    struct plan plan;
    enum run_state known;
    unsigned limit = q->limit < 1 ? 1 : q->limit > LIMIT_MAX ? LIMIT_MAX : q->limit;
    if ((q->state && run_state_parse(q->state, &known, e)) || make_plan(db, q, &plan, e) ||
        prepare(&rows, db, q, &plan, limit, e))
        return -1;
    int found;
    while ((found = query_step(&rows, e)) > 0) {
        if (list.n == limit) {
            list.next_before_seq = list.rows[list.n - 1].seq;
            break;
        }
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
        run_record_take(&rows, &list.rows[list.n++]);
        if (query_taken(&rows, e))
            return -1;
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}

int runs_stats(struct db *db, int64_t since_ms, struct run_stat **ret, size_t *ret_n, struct err *e)
{
    autofree struct run_stat *stats = NULL;
    size_t n = 0;
    scoped(query) q = { 0 };
    if (query_get(&q, db, since_ms ? SQL_RUN_TOTALS_SINCE : SQL_RUN_TOTALS, e))
        return -1;
    if (since_ms)
        bind_int(&q, since_ms);
    int found;
    while ((found = query_step(&q, e)) > 0) {
        if (SQL_GROW(stats, n, e))
            return -1;
        struct run_stat *s = &stats[n++];
        (void)snprintf(s->language, sizeof s->language, "%s", peek_text(&q, NULL));
        (void)snprintf(s->verdict, sizeof s->verdict, "%s", peek_text(&q, NULL));
        s->n = take_int(&q);
        s->wall_us_sum = take_int(&q);
        s->wall_us_max = take_int(&q);
        s->cpu_us_sum = take_int(&q);
        s->memory_peak_max = take_int(&q);
    }
    if (found < 0)
        return -1;
    *ret = stats;
    stats = NULL;
    *ret_n = n;
    return 0;
}
