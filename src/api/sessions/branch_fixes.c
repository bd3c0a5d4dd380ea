#include "api/sessions/branch_fixes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/job.h"
#include "api/runs/history_routes.h"
#include "base/auto.h"
#include "base/text.h"
#include "fixes/fix.h"
#include "run/json.h"
#include "store/run_rows.h"

struct cell_lookup {
    struct api_job job;
    char id[ID_SIZE];
    struct run_record row;
    void (*then)(struct api_call *c);
};

static int lookup_work(struct db *db, struct store_job *job, struct err *e)
{
    struct cell_lookup *l = (struct cell_lookup *)job;
    return runs_get(db, l->id, RUN_WITHOUT_BLOBS, &l->row, e);
}

static void add_candidate(const struct run_record *row, const json_t *diagnosis,
                          const json_t *suggestion, json_t *codes, json_t *diffs)
{
    scoped(fix) fix = { 0 };
    struct err e;
    const json_t *at = json_object_get(diagnosis, "location");
    const char *action = json_find_text(suggestion, "action"), *file = json_find_text(at, "file");
    struct fix_request q = {
        .language = row->language,
        .file = file ? file : "cell",
        .text = row->code,
        .len = strlen(row->code),
        .line = (uint32_t)json_integer_value(json_object_get(at, "line")),
        .replacement = json_find_text(suggestion, "replacement"),
        .inserts = action && strcmp(action, "insert") == 0,
    };
    if (!q.replacement || fix_make(&q, &fix, &e))
        return;
    (void)json_array_append_new(codes, json_stringn(buf_str(&fix.text), fix.text.len));
    (void)json_array_append_new(diffs, json_stringn(buf_str(&fix.diff), fix.diff.len));
}

static int make_candidates(struct api_call *c, const struct run_record *row, struct err *e)
{
    json_auto_t *result = row->result ? json_loads(row->result, JSON_ALLOW_NUL, NULL) : NULL;
    const json_t *diagnosis = json_object_get(result, "diagnosis"), *s;
    json_t *codes = json_array(), *diffs = json_array();
    size_t i;
    json_array_foreach(json_object_get(diagnosis, "suggestions"), i, s)
        if (row->code)
            add_candidate(row, diagnosis, s, codes, diffs);
    size_t n = json_array_size(codes);
    json_put(c->body, "candidates", codes);
    json_put(c->body, "diffs", diffs);
    if (n > 0)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the diagnosis of run '%s' suggests no line to try: give 'candidates'",
                   QUOTED(row->id));
}

static void lookup_done(struct store_job *job)
{
    struct cell_lookup *l = (struct cell_lookup *)job;
    struct api_call *c = l->job.call;
    struct err e = job->err;
    bool seen = e.code == ERR_NONE && history_may_see(c, l->row.key, l->row.created_ms);
    if (e.code == ERR_NOT_FOUND || (e.code == ERR_NONE && !seen))
        (void)!err_set(&e, ERR_NOT_FOUND, 0, "fixes_of: there is no run '%s'", QUOTED(l->id));
    if (e.code != ERR_NONE || make_candidates(c, &l->row, &e))
        api_fail(c, &e, "fixes_of");
    else
        l->then(c);
    run_record_done(&l->row);
    free(l);
}

void branch_fixes_find(struct api_call *c, void (*then)(struct api_call *c))
{
    struct err e = { 0 };
    const char *id = api_text(c, "fixes_of");
    if (json_object_get(c->body, "candidates")) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                       "'candidates' and 'fixes_of' are both given: one of them has the programs");
        api_fail(c, &e, "fixes_of");
        return;
    }
    struct cell_lookup *l = api_job_new(c, sizeof *l, lookup_work, lookup_done);
    if (!l)
        return;
    (void)snprintf(l->id, sizeof l->id, "%s", id);
    l->then = then;
    api_job_read(&l->job);
}
