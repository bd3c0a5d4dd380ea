/* /v1/audit: the records of the audit log, and a check of its chain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/core.h"
#include "api/kernel/job.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "store/audit_log.h"

enum { RECORDS_LISTED = 100, RECORDS_MAX = 1000 };

/* ---- records ---- */

struct audit_listing {
    struct api_job job;
    int64_t before, limit; /* before 0: the newest */
    int64_t first, head;   /* of the log */
    json_t *records;       /* oldest first */
};

static int add_record(void *context, const struct audit_record *r)
{
    struct audit_listing *l = context;
    if (l->before > 0 && r->seq >= l->before)
        return 1;
    json_t *detail = json_loads(r->detail, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    (void)json_array_append_new(
        l->records,
        json_pack("{s:I, s:o, s:s, s:s, s:s, s:o, s:s}", "seq", (json_int_t)r->seq, "time",
                  result_time((uint64_t)r->time_ms), "kind", r->kind, "subject", r->subject,
                  "actor", r->actor, "detail", detail ? detail : json_null(), "hash", r->hash));
    return 0;
}

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct audit_listing *l = (struct audit_listing *)job;
    struct audit_head head;
    if (audit_head(db, &head, e))
        return -1;
    l->first = head.first;
    l->head = head.seq;
    int64_t end = l->before > 0 && l->before <= head.seq ? l->before : head.seq + 1;
    int64_t after = end - 1 - l->limit;
    return audit_each(db, after > 0 ? after : 0, (unsigned)l->limit, add_record, l, e);
}

static void list_done(struct store_job *job)
{
    struct audit_listing *l = (struct audit_listing *)job;
    struct api_call *c = l->job.call;
    json_t *newest_first = json_array();
    size_t n = json_array_size(l->records);
    int64_t oldest = json_integer_value(json_object_get(json_array_get(l->records, 0), "seq"));
    for (size_t i = n; i > 0; i--)
        (void)json_array_append(newest_first, json_array_get(l->records, i - 1));
    char cursor[32];
    (void)snprintf(cursor, sizeof cursor, "%lld", (long long)oldest);
    json_t *o = json_pack("{s:o, s:I, s:s?}", "records", newest_first, "head", (json_int_t)l->head,
                          "next_cursor", oldest > l->first ? cursor : NULL);
    if (job->err.code == ERR_NONE) {
        api_reply(c, 200, o);
    } else {
        json_decref(o);
        api_fail(c, &job->err, NULL);
    }
    json_decref(l->records);
    free(l);
}

static void list_records(struct api_call *c)
{
    struct err e = { 0 };
    int64_t limit = RECORDS_LISTED, before = 0;
    if (api_query_number(c, "limit", 1, RECORDS_MAX, &limit, &e) ||
        api_query_number(c, "cursor", 1, INT64_MAX, &before, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    struct audit_listing *l = api_job_new(c, sizeof *l, list_work, list_done);
    if (!l)
        return;
    l->limit = limit;
    l->before = before;
    l->records = json_array();
    api_job_read(&l->job);
}

/* ---- the check ---- */

struct audit_verification {
    struct api_job job;
    struct audit_check check;
};

static int verify_work(struct db *db, struct store_job *job, struct err *e)
{
    return audit_verify_chain(db, &((struct audit_verification *)job)->check, e);
}

static void verify_done(struct store_job *job)
{
    struct audit_verification *v = (struct audit_verification *)job;
    const struct audit_check *k = &v->check;
    v->job.call->api->core->verifies_audit = false;
    if (job->err.code != ERR_NONE)
        api_fail(v->job.call, &job->err, NULL);
    else
        api_reply(v->job.call, 200,
                  json_pack("{s:b, s:I, s:I, s:I, s:s, s:o, s:s?, s:s}", "holds",
                            k->broken_seq == 0, "records", (json_int_t)k->records, "rows",
                            (json_int_t)k->rows, "removed", (json_int_t)k->removal.to, "head",
                            k->head, "broken_seq",
                            k->broken_seq ? json_integer((json_int_t)k->broken_seq) : json_null(),
                            "problem", k->broken_seq ? k->problem : NULL, "seals",
                            "not checked: 'belljar audit verify' on the machine of the service "
                            "checks them"));
    free(v);
}

static void verify(struct api_call *c)
{
    struct err e = { 0 };
    /* A log may have a gigabyte. One check at a time leaves a thread for the other readers. */
    if (c->api->core->verifies_audit) {
        (void)!err_set(&e, ERR_BUSY, 0, "the audit log is being checked: ask again in a moment");
        api_fail(c, &e, NULL);
        return;
    }
    struct audit_verification *v = api_job_new(c, sizeof *v, verify_work, verify_done);
    if (!v)
        return;
    c->api->core->verifies_audit = true;
    api_job_read(&v->job);
}

/* ---- fields ---- */

static const struct api_field list_query[] = {
    { "limit", FIELD_INT, .min = 1, .max = RECORDS_MAX, .help = "size of a page; 100 by default" },
    { "cursor", FIELD_STRING, .help = "next_cursor of the previous page" },
    { 0 },
};
static const struct api_field record_reply[] = {
    { "seq", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "time", FIELD_STRING, OR_NULL, .help = "time of the event" },
    { "kind", FIELD_STRING, ALWAYS, .help = "such as run.finished or approval.decided" },
    { "subject", FIELD_STRING, ALWAYS, .help = "id of the run or approval, or name of the key" },
    { "actor", FIELD_STRING, ALWAYS, .help = "the key, the user or the service" },
    { "detail", FIELD_ANY, OR_NULL, .help = "facts, with the digest of the row" },
    { "hash", FIELD_STRING, ALWAYS, .help = "of this record and all records before it" },
    { .schema = "AuditRecord" },
};
static const struct api_field list_reply[] = {
    { "records", FIELD_OBJECTS, ALWAYS, .fields = record_reply, .help = "newest first" },
    { "head", FIELD_INT, ALWAYS, .help = "number of the newest record" },
    { "next_cursor", FIELD_STRING, OR_NULL, .help = "for the next page; null at the end" },
    { .schema = "AuditList" },
};
static const struct api_field check_reply[] = {
    { "holds", FIELD_BOOL, ALWAYS, .help = "true if chain and rows are intact" },
    { "records", FIELD_INT, ALWAYS, .help = "number of intact records" },
    { "rows", FIELD_INT, ALWAYS, .help = "number of rows that are as their newest record says" },
    { "removed", FIELD_INT, ALWAYS,
      .help = "records 1 to this one were removed, which is on record" },
    { "head", FIELD_STRING, ALWAYS,
      .help = "hash of the last intact record, to be noted elsewhere" },
    { "broken_seq", FIELD_INT, OR_NULL, .help = "the first record that is missing or changed" },
    { "problem", FIELD_STRING, OR_NULL, .help = "a sentence about it" },
    { "seals", FIELD_STRING, ALWAYS, .help = "the command that checks the seals" },
    { .schema = "AuditCheck" },
};

const struct api_route audit_routes[] = {
    { METHOD_GET, "/v1/audit", SCOPE_ADMIN, .query = list_query, .handle = list_records,
      .summary = "The audit log, newest first", .replies = REPLIES({ 200, .fields = list_reply }) },
    { METHOD_POST, "/v1/audit/verify", SCOPE_ADMIN, .handle = verify,
      .summary = "Check the chain of the audit log, and the rows that it is about",
      .replies = REPLIES({ 200, .fields = check_reply }) },
    { 0 },
};
