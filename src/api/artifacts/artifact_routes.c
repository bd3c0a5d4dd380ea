/* /api/artifacts: texts with versions. An artifact of type "code" can be run. */
#include "store/artifact_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/approvals/approvals.h"
#include "api/artifacts/detect.h"
#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/runs/network_request.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_result.h"
#include "api/runs/run_spec.h"
#include "api/runs/spec_work.h"
#include "api/runs/submit.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "runtime/language.h"
#include "spec/permission.h"
#include "store/audit_log.h"

enum { TIMEOUT_DEFAULT_MS = 10000 };

struct artifact_job {
    struct api_job job;
    struct run_watch watch; /* of execute */
    struct run *run;
    struct artifact_row in, row; /* of the request; found by the store */
    struct artifact_rows rows;
    int64_t now_ms;
    /* NULL: every artifact; else the caller sees, or changes, only artifacts of this owner */
    const char *sees, *changes;
    struct artifact_quota quota;
    json_t *request; /* of an execution, as POST /v1/runs takes it */
};

static void artifact_job_free(void *job)
{
    struct artifact_job *j = job;
    artifact_row_done(&j->in);
    artifact_row_done(&j->row);
    artifact_rows_done(&j->rows);
    json_decref(j->request);
    free(j);
}

static struct artifact_job *artifact_job_new(struct api_call *c,
                                             int (*work)(struct db *, struct store_job *,
                                                         struct err *),
                                             void (*done)(struct store_job *))
{
    struct artifact_job *j = api_job_new(c, sizeof *j, work, done);
    if (!j)
        return NULL;
    j->now_ms = clock_unix_ms();
    j->in.id = strdup(c->params[0]);
    bool admin = c->who.scopes & SCOPE_BIT(SCOPE_ADMIN);
    j->changes = admin ? NULL : c->who.owner;
    j->sees = admin || (c->who.scopes & SCOPE_BIT(SCOPE_READ)) ? NULL : c->who.owner;
    j->quota = (struct artifact_quota){ (int64_t)c->api->settings->artifacts_max_bytes_per_key,
                                        (int64_t)c->api->settings->artifacts_max_bytes };
    return j;
}

/* True if the job failed; the call is answered and the job freed then. */
static bool artifact_job_failed(struct artifact_job *j)
{
    struct err e = j->job.store.err;
    if (e.code == ERR_NONE)
        return false;
    if (e.code == ERR_NOT_FOUND)
        (void)snprintf(e.text, sizeof e.text, "Artifact not found");
    api_fail(j->job.call, &e, NULL);
    artifact_job_free(j);
    return true;
}

static json_t *artifact_object(const struct artifact_row *r)
{
    return json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s, s:I, s:s?, s:o, s:o}", "id", r->id,
                     "conversation_id", r->conversation, "title", r->title, "content", r->content,
                     "language", r->language, "artifact_type", r->type, "version",
                     (json_int_t)r->version, "parent_artifact_id", r->parent, "created_at",
                     result_time((uint64_t)r->created_ms), "updated_at",
                     result_time((uint64_t)r->updated_ms));
}

static json_t *artifact_list(const struct artifact_rows *rows)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows->n; i++)
        (void)json_array_append_new(list, artifact_object(&rows->rows[i]));
    return list;
}

static int get_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    return artifacts_get(db, j->in.id, j->sees, &j->row, e);
}

static json_t *make_row(void *j)
{
    return artifact_object(&((struct artifact_job *)j)->row);
}

static void reply_artifact(struct artifact_job *j, int status)
{
    if (artifact_job_failed(j))
        return;
    if (strlen(j->row.content) > API_LARGE_BYTES) {
        api_reply_made(j->job.call, status, make_row, artifact_job_free, j);
        return;
    }
    api_reply(j->job.call, status, artifact_object(&j->row));
    artifact_job_free(j);
}

static void reply_row(struct store_job *job)
{
    reply_artifact((struct artifact_job *)job, 200);
}

static void reply_created(struct store_job *job)
{
    reply_artifact((struct artifact_job *)job, 201);
}

static void reply_rows(struct store_job *job)
{
    struct artifact_job *j = (struct artifact_job *)job;
    if (artifact_job_failed(j))
        return;
    api_reply(j->job.call, 200, artifact_list(&j->rows));
    artifact_job_free(j);
}

/* New versions need room on the disk. */
static void write_more(struct artifact_job *j)
{
    struct err e;
    if (storage_check(j->job.call->api, &e) == 0) {
        api_job_write(&j->job);
        return;
    }
    api_fail(j->job.call, &e, NULL);
    artifact_job_free(j);
}

static void read_by(struct api_call *c, int (*work)(struct db *, struct store_job *, struct err *),
                    void (*done)(struct store_job *))
{
    struct artifact_job *j = artifact_job_new(c, work, done);
    if (j)
        api_job_read(&j->job);
}

/* ---- create, read, change ---- */
static int record(struct db *db, const struct artifact_job *j, const char *kind, const char *id,
                  struct err *e)
{
    const struct audit_record r = { .time_ms = j->now_ms,
                                    .kind = kind,
                                    .subject = id,
                                    .actor = j->job.call->who.name,
                                    .detail = "{}" };
    return audit_append(db, &r, e);
}

static int insert_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    if (!j->in.id || !j->in.owner || !j->in.title || !j->in.content || !j->in.language ||
        !j->in.type)
        return err_no_memory(e, "an artifact");
    return artifacts_insert(db, &j->in, &j->quota, e) ||
                   record(db, j, "artifact.created", j->in.id, e) ||
                   artifacts_get(db, j->in.id, NULL, &j->row, e)
               ? -1
               : 0;
}

static void create(struct api_call *c)
{
    char id[ID_SIZE];
    const char *language = api_text(c, "language");
    struct artifact_job *j = artifact_job_new(c, insert_work, reply_created);
    if (!j)
        return;
    id_make("art_", id);
    artifact_row_done(&j->in);
    j->in = (struct artifact_row){ .id = strdup(id),
                                   .owner = strdup(c->who.owner),
                                   .conversation = text_copy(api_text(c, "conversation_id")),
                                   .title = text_copy(api_text(c, "title")),
                                   .content = text_copy(api_text(c, "content")),
                                   .language = text_copy(language),
                                   .type = strdup(artifact_type(language)),
                                   .created_ms = j->now_ms };
    write_more(j);
}

static json_t *detected(const struct api_call *c)
{
    const json_t *content = json_object_get(c->body, "content");
    return detect_artifacts(json_string_value(content), json_string_length(content));
}

static void list_free(void *prepared)
{
    json_decref(prepared);
}

/* In a thread, for a large body. */
static int detect_in_thread(struct api_call *c, const struct api *here, const struct buf *bytes,
                            char *field, size_t size, struct err *e)
{
    (void)here, (void)bytes, (void)field, (void)size;
    c->prepared = detected(c);
    c->prepared_free = list_free;
    return c->prepared ? 0 : err_no_memory(e, "the artifacts");
}

static void detect(struct api_call *c)
{
    json_t *list = c->prepared ? json_incref(c->prepared) : detected(c);
    if (list)
        api_reply(c, 200, list);
    else
        api_fail_no_memory(c);
}

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    return artifacts_of_conversation(db, j->in.id, j->sees, &j->rows, e);
}

static void list_of_conversation(struct api_call *c)
{
    read_by(c, list_work, reply_rows);
}

static void get_one(struct api_call *c)
{
    read_by(c, get_work, reply_row);
}

static int update_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    return artifacts_update(db, j->in.id, j->changes, j->in.content, j->in.title, j->now_ms,
                            &j->quota, &j->row, e) ||
                   record(db, j, "artifact.changed", j->in.id, e)
               ? -1
               : 0;
}

static void update(struct api_call *c)
{
    struct err e;
    if (!api_text(c, "content") && !api_text(c, "title")) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "nothing to change: give content, title or both");
        api_fail(c, &e, NULL);
        return;
    }
    struct artifact_job *j = artifact_job_new(c, update_work, reply_row);
    if (!j)
        return;
    j->in.content = text_copy(api_text(c, "content"));
    j->in.title = text_copy(api_text(c, "title"));
    write_more(j);
}

static int delete_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    return artifacts_delete(db, j->in.id, j->changes, e) ||
                   record(db, j, "artifact.deleted", j->in.id, e)
               ? -1
               : 0;
}

static void delete_done(struct store_job *job)
{
    struct artifact_job *j = (struct artifact_job *)job;
    if (artifact_job_failed(j))
        return;
    api_reply_text(j->job.call, 204, "application/json", "", 0);
    artifact_job_free(j);
}

static void delete_one(struct api_call *c)
{
    struct artifact_job *j = artifact_job_new(c, delete_work, delete_done);
    if (j)
        api_job_write(&j->job);
}

static int fork_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    char id[ID_SIZE];
    scoped(artifact_row) parent = { 0 };
    if (artifacts_get(db, j->in.id, j->sees, &parent, e))
        return -1;
    id_make("art_", id);
    /* The strings belong to the parent; the insert copies them. */
    struct artifact_row child = parent;
    child.id = id;
    child.owner = j->job.call->who.owner;
    child.parent = parent.id;
    child.created_ms = j->now_ms;
    return artifacts_insert(db, &child, &j->quota, e) || record(db, j, "artifact.created", id, e) ||
                   artifacts_get(db, id, NULL, &j->row, e)
               ? -1
               : 0;
}

static void fork_one(struct api_call *c)
{
    struct artifact_job *j = artifact_job_new(c, fork_work, reply_row);
    if (j)
        write_more(j);
}

static int versions_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    return artifacts_versions(db, j->in.id, j->sees, &j->rows, e);
}

static void versions(struct api_call *c)
{
    read_by(c, versions_work, reply_rows);
}

/* ---- download ---- */
/* Languages that cannot be run, or that browsers know by a type of their own. */
static const struct file_form {
    const char *language, *extension, *content_type;
} file_forms[] = {
    { "html", ".html", "text/html" },
    { "htm", ".html", "text/html" },
    { "svg", ".svg", "image/svg+xml" },
    { "mermaid", ".mmd", "text/plain" },
    { "latex", ".tex", "application/x-tex" },
    { "tex", ".tex", "application/x-tex" },
    { "css", ".css", "text/css" },
    { "json", ".json", "application/json" },
    { "markdown", ".md", "text/markdown" },
    { "md", ".md", "text/markdown" },
    { "yaml", ".yaml", "application/yaml" },
    { "kotlin", ".kt", "text/x-kotlin" },
    { "swift", ".swift", "text/x-swift" },
    { "react", ".jsx", "text/javascript" },
    { "jsx", ".jsx", "text/javascript" },
    { "tsx", ".tsx", "text/plain" },
};

static const struct file_form *file_form_of(const char *language)
{
    for (size_t i = 0; i < ARRAY_LEN(file_forms); i++)
        if (strcasecmp(file_forms[i].language, language) == 0)
            return &file_forms[i];
    return NULL;
}

static const char *extension_of(const char *language)
{
    const struct language *l = language_find(language);
    const struct file_form *f = file_form_of(language);
    return l ? l->extensions[0] : f ? f->extension : ".txt";
}

/* "text/x-python"; text/plain for a language that is not known. */
static void content_type_of(const char *language, char *out, size_t size)
{
    const struct language *l = language_find(language);
    const struct file_form *f = file_form_of(language);
    if (l)
        (void)snprintf(out, size, "text/%s%s", strcmp(l->name, "javascript") == 0 ? "" : "x-",
                       l->name);
    else
        (void)snprintf(out, size, "%s", f ? f->content_type : "text/plain");
}

/* Letters, digits, - and _ of the title; each run of other characters becomes one _. So the name
 * cannot end the string in the header, and is no path on the client's disk. */
static void file_name(const struct artifact_row *r, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = r->title; *p && n < 60; p++) {
        bool plain = isalnum((unsigned char)*p) || *p == '-' || *p == '_';
        if (plain || (n > 0 && out[n - 1] != '_'))
            out[n++] = plain ? *p : '_';
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    (void)snprintf(out + n, size - n, "%s%s", n ? "" : "artifact", extension_of(r->language));
}

/* The header names JSON itself: a wildcard asks for nothing special. */
static bool wants_json(const struct api_call *c)
{
    const char *accept = c->http ? http_request_header(&c->http->request, "Accept") : NULL;
    return accept && strcasestr(accept, "application/json");
}

static void reply_file_object(struct api_call *c, const struct artifact_row *r, const char *name)
{
    char type[96];
    content_type_of(r->language, type, sizeof type);
    api_reply(c, 200,
              json_pack("{s:s, s:s, s:s}", "filename", name, "content", r->content, "content_type",
                        type));
}

static void reply_file(struct api_call *c, const struct artifact_row *r, const char *name)
{
    char header[192];
    (void)snprintf(header, sizeof header, "attachment; filename=\"%s\"", name);
    api_header(c, "Content-Disposition", header);
    api_reply_text(c, 200, "text/plain; charset=utf-8", r->content, strlen(r->content));
}

static void download_done(struct store_job *job)
{
    struct artifact_job *j = (struct artifact_job *)job;
    char name[128];
    if (artifact_job_failed(j))
        return;
    file_name(&j->row, name, sizeof name);
    if (wants_json(j->job.call))
        reply_file_object(j->job.call, &j->row, name);
    else
        reply_file(j->job.call, &j->row, name);
    artifact_job_free(j);
}

static void download(struct api_call *c)
{
    read_by(c, get_work, download_done);
}

/* ---- execute ---- */
static void reply_execution(struct artifact_job *j, json_t *execution)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "artifact_id", j->row.id, "title", j->row.title,
                          "language", j->row.language, "execution", execution);
    if (o)
        api_reply(j->job.call, 200, o);
    else
        api_fail_no_memory(j->job.call);
    artifact_job_free(j);
}

static bool timed_out(const struct result *r)
{
    return r->verdict == VERDICT_TIMEOUT || r->verdict == VERDICT_CPU_TIMEOUT;
}

/* A sentence about the end of a program that failed. Clients look for the word "timeout". */
static void failure_sentence(const struct result *r, char *out, size_t size)
{
    char span[32];
    if (timed_out(r))
        (void)snprintf(
            out, size, "Execution timeout: the program took longer than %s",
            unit_format(UNIT_MS, r->limits.v[verdict_limit(r->verdict, 0)], span, sizeof span));
    else if (!run_end_sentence(r, out, size))
        (void)snprintf(out, size, "The program ended with exit code %d",
                       verdict_exit_code(r->verdict, &r->evidence));
}

/* stderr of the program. If it failed for another reason than its own exit, or printed nothing, a
 * sentence follows: `error` is never null then. */
static json_t *error_text(const struct result *r, const json_t *err)
{
    char line[400];
    const char *text = json_string_value(err);
    size_t n = json_string_length(err);
    scoped(buf) both = { 0 };
    struct err e;
    bool own_end = !run_end_sentence(r, line, sizeof line);
    if (own_end && n > 0)
        return json_incref((json_t *)err);
    if (r->verdict == VERDICT_OK)
        return json_null();
    failure_sentence(r, line, sizeof line);
    bool ends_line = n == 0 || text[n - 1] == '\n';
    if (buf_add(&both, text, n, &e) || buf_addf(&both, &e, "%s%s", ends_line ? "" : "\n", line))
        return json_string(line);
    return json_stringn(both.data, both.len);
}

/* The five fields that clients know, then all fields of a result. */
static json_t *execution_object(const struct api *api, const struct run *x)
{
    const struct result *r = &x->result;
    json_t *all = run_result_object(x, RUN_INLINE_MAX);
    json_t *out = json_object_get(all, "stdout"), *err = json_object_get(all, "stderr");
    json_t *o = json_pack("{s:b, s:o, s:o, s:f, s:i}", "success", r->verdict == VERDICT_OK,
                          "output", out ? json_incref(out) : json_string(""), "error",
                          error_text(r, err), "execution_time", (double)r->usage.wall_us / 1e6,
                          "return_code",
                          timed_out(r) ? -1 : verdict_exit_code(r->verdict, &r->evidence));
    json_t *approval = approvals_of_run(api, x->id);
    (void)json_object_del(all, "stdout");
    (void)json_object_del(all, "stderr");
    (void)json_object_update_missing(o, all);
    if (approval)
        (void)json_object_set_new(o, "approval", approval);
    json_decref(all);
    return o;
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct artifact_job *j = (struct artifact_job *)((char *)w -
                                                     offsetof(struct artifact_job, watch));
    if (event != RUN_EVENT_DONE)
        return;
    struct err lost = x->record_err; /* a run that is not in the history has no result */
    json_t *execution = lost.code == ERR_NONE ? execution_object(j->job.call->api, x) : NULL;
    run_watch_remove(x, w);
    if (execution) {
        reply_execution(j, execution);
        return;
    }
    if (lost.code == ERR_NONE)
        (void)!err_no_memory(&lost, "the answer");
    api_fail(j->job.call, &lost, NULL);
    artifact_job_free(j);
}

static bool given_wall(const json_t *limits)
{
    const json_t *wall = json_object_get(limits, limit_defs[LIMIT_WALL_MS].key);
    return wall && !json_is_null(wall);
}

/* Fields of a run that this route does not have, or has under another name. */
static int check_execution(const struct api_call *c, char *field, size_t field_size, struct err *e)
{
    if (run_flag(c->body, "stream", false)) {
        (void)snprintf(field, field_size, "stream");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "stream is not accepted here: POST /v1/runs with the content streams");
    }
    if (json_object_get(c->body, "timeout") && given_wall(json_object_get(c->body, "limits"))) {
        (void)snprintf(field, field_size, "timeout");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "timeout and limits.wall_ms mean the same: give one of them");
    }
    return 0;
}

static json_t *run_object(const struct artifact_job *j)
{
    const json_t *body = j->job.call->body, *timeout = json_object_get(body, "timeout"),
                 *limits = json_object_get(body, "limits"), *in = json_object_get(body, "stdin");
    double wall_ms = timeout ? json_number_value(timeout) * 1000 : TIMEOUT_DEFAULT_MS;
    json_t *all = given_wall(limits) ? json_copy((json_t *)limits)
                                     : run_wall_limit(limits, (uint64_t)ceil(wall_ms));
    return json_pack("{s:s, s:s, s:o, s:O*, s:O*, s:s*}", "language", j->row.language, "code",
                     j->row.content, "limits", all, "stdin", in, "network",
                     json_object_get(body, "network"), "thread_id",
                     api_text(j->job.call, "thread_id"));
}

/* Takes over the spec. */
static int submit_run(struct artifact_job *j, struct run_spec *spec, struct err *e)
{
    free(spec->artifact);
    spec->artifact = strdup(j->row.id);
    j->watch.on_event = on_run_event;
    return api_submit(j->job.call->api, spec, api_text(j->job.call, "permission_mode"), 0,
                      &j->watch, &j->run, e);
}

/* A large program becomes a spec in a thread. */
struct artifact_spec {
    struct spec_work work; /* first: on_made() gets it */
    struct artifact_job *j;
};

static void on_made(struct spec_work *work)
{
    struct artifact_spec *s = (struct artifact_spec *)work;
    struct artifact_job *j = s->j;
    struct err e = work->err;
    if (e.code != ERR_NONE || submit_run(j, &work->spec, &e)) {
        api_fail(j->job.call, &e, work->field[0] ? work->field : NULL);
        artifact_job_free(j);
    }
    free(s);
}

static int start_in_thread(struct artifact_job *j, struct err *e)
{
    struct artifact_spec *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "the request");
    *s = (struct artifact_spec){ .work = { .api = j->job.call->api,
                                           .who = &j->job.call->who,
                                           .request = j->request,
                                           .surface = "artifacts",
                                           .validate = true,
                                           .done = on_made },
                                 .j = j };
    if (spec_work_start(&s->work, e) == 0)
        return 0;
    free(s);
    return -1;
}

static int start_run(struct artifact_job *j, char *field, size_t field_size, struct err *e)
{
    struct api *api = j->job.call->api;
    struct run_spec spec = { 0 };
    if (check_execution(j->job.call, field, field_size, e))
        return -1;
    if (!j->request)
        return err_no_memory(e, "the request");
    if (strlen(j->row.content) > API_LARGE_BYTES)
        return start_in_thread(j, e);
    if (api_validate(j->request, run_fields, false, field, field_size, e) ||
        run_spec_from_json(api, &j->job.call->who, j->request, "artifacts", &spec, field,
                           field_size, e))
        return -1;
    return submit_run(j, &spec, e);
}

static void reply_unsupported(struct artifact_job *j)
{
    char text[160], quoted[96];
    (void)snprintf(text, sizeof text, "Language '%s' is not supported",
                   text_quote(j->row.language, quoted, sizeof quoted));
    reply_execution(j,
                    json_pack("{s:b, s:s, s:s, s:f, s:i, s:n}", "success", 0, "output", "", "error",
                              text, "execution_time", 0.0, "return_code", -2, "diagnosis"));
}

static void execute_found(struct store_job *job)
{
    struct artifact_job *j = (struct artifact_job *)job;
    char field[128] = "";
    struct err e;
    if (artifact_job_failed(j))
        return;
    if (strcmp(j->row.type, "code") != 0) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "Cannot execute artifact of type '%s'", j->row.type);
        api_fail(j->job.call, &e, NULL);
        artifact_job_free(j);
    } else if (!language_find(j->row.language)) {
        reply_unsupported(j);
    } else if (start_run(j, field, sizeof field, &e)) {
        api_fail(j->job.call, &e, field[0] ? field : NULL);
        artifact_job_free(j);
    }
}

/* In a thread of the store: the request is as large as the artifact. */
static int execute_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_job *j = (struct artifact_job *)job;
    if (get_work(db, job, e))
        return -1;
    j->request = run_object(j);
    return 0;
}

static void execute(struct api_call *c)
{
    read_by(c, execute_work, execute_found);
}

/* ---- fields ---- */
static const struct api_field create_fields[] = {
    { "content", FIELD_STRING, .required = true, .help = "the text of the artifact" },
    { "title", FIELD_STRING, .required = true, .max = 1000, .help = "the title" },
    { "language", FIELD_STRING, .required = true, .max = 64,
      .help = "such as python, html or mermaid; the type of the artifact follows from it" },
    { "conversation_id", FIELD_STRING, .max = 256, .help = "the conversation of the artifact" },
    { 0 },
};
static const struct api_field detect_fields[] = {
    { "content", FIELD_STRING, .required = true, .help = "the Markdown to search" },
    { "conversation_id", FIELD_STRING, .max = 256, .help = "accepted and ignored" },
    { 0 },
};
static const struct api_field update_fields[] = {
    { "content", FIELD_STRING, .help = "the new text" },
    { "title", FIELD_STRING, .max = 1000, .help = "the new title" },
    { 0 },
};
static const struct api_field execute_fields[] = {
    { "timeout", FIELD_NUMBER, .min = 0.001, .max = 86400,
      .help = "time limit in seconds; 10 by default" },
    { "limits", FIELD_LIMITS, .help = "limits of the run; not wall_ms beside timeout" },
    { "stdin", FIELD_DATA, .help = "the input of the program" },
    NETWORK_FIELD,
    { "stream", FIELD_BOOL, .help = "only false: POST /v1/runs streams" },
    { "thread_id", FIELD_STRING, .max = 256, .help = "the thread whose approvals and rules hold" },
    { "permission_mode", FIELD_STRING, .one_of = permission_modes,
      .help = "default, manual and acceptEdits ask a person first" },
    { 0 },
};

static const struct api_field artifact_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the artifact" },
    { "conversation_id", FIELD_STRING, OR_NULL, .help = "the conversation of the artifact" },
    { "title", FIELD_STRING, ALWAYS, .help = "the title" },
    { "content", FIELD_STRING, ALWAYS, .help = "the text" },
    { "language", FIELD_STRING, ALWAYS, .help = "as in the request" },
    { "artifact_type", FIELD_STRING, ALWAYS, .help = "such as code or html" },
    { "version", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "parent_artifact_id", FIELD_STRING, OR_NULL, .help = "the artifact that it is a copy of" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time of the first version" },
    { "updated_at", FIELD_STRING, OR_NULL, .help = "time of this version" },
    { .schema = "Artifact" },
};
static const struct api_field download_reply[] = {
    { "filename", FIELD_STRING, ALWAYS, .help = "from the title and the language" },
    { "content", FIELD_STRING, ALWAYS, .help = "the text" },
    { "content_type", FIELD_STRING, ALWAYS, .help = "such as text/x-python" },
    { .schema = "ArtifactFile", .help = "If the header Accept names application/json" },
};
static const struct api_field detected_reply[] = {
    { "content", FIELD_STRING, ALWAYS, .help = "the text" },
    { "language", FIELD_STRING, ALWAYS, .help = "the language of the fence, or a guess" },
    { "title", FIELD_STRING, ALWAYS,
      .help = "the first function or class, the line before the block, or generated" },
    { "artifact_type", FIELD_STRING, ALWAYS, .help = "such as code or html" },
    { .schema = "DetectedArtifact" },
};
static const struct api_field artifact_run_reply[] = {
    { "success", FIELD_BOOL, ALWAYS, .help = "true if the run ended well" },
    { "output", FIELD_DATA, ALWAYS, .help = "stdout of the program" },
    { "error", FIELD_DATA, OR_NULL,
      .help = "stderr of the program and the reason of its end; null if there is neither" },
    { "execution_time", FIELD_NUMBER, ALWAYS, .help = "in seconds" },
    { "return_code", FIELD_INT, ALWAYS,
      .help = "exit code; -1: the timeout was reached; -2: the language cannot be run" },
    { "approval", FIELD_ANY, .help = "the approval of the run, if it needed one" },
    { .schema = "ArtifactRun",
      .fields = result_reply,
      .help = "With all fields of a result, if the artifact was run" },
};
static const struct api_field execution_reply[] = {
    { "artifact_id", FIELD_STRING, ALWAYS, .help = "id of the artifact" },
    { "title", FIELD_STRING, ALWAYS, .help = "the title" },
    { "language", FIELD_STRING, ALWAYS, .help = "as in the artifact" },
    { "execution", FIELD_OBJECT, ALWAYS, .fields = artifact_run_reply, .help = "the run" },
    { .schema = "Execution" },
};

const struct api_route artifact_routes[] = {
    { METHOD_POST, "/api/artifacts/create", SCOPE_RUN, STYLE_DETAIL, .body = create_fields,
      .flags = ROUTE_LENIENT, .handle = create, .summary = "Create an artifact",
      .replies = REPLIES({ 201, .fields = artifact_reply }) },
    { METHOD_POST, "/api/artifacts/detect", SCOPE_RUN, STYLE_DETAIL, .body = detect_fields,
      .flags = ROUTE_LENIENT, .handle = detect, .prepare = detect_in_thread,
      .summary = "Find the artifacts in Markdown",
      .replies = REPLIES({ 200, .fields = detected_reply, .list = true }) },
    { METHOD_GET, "/api/artifacts/conversations/{conversation_id}/artifacts", SCOPE_ANY,
      STYLE_DETAIL, .handle = list_of_conversation,
      .summary = "The artifacts of a conversation, newest first",
      .replies = REPLIES({ 200, .fields = artifact_reply, .list = true }) },
    { METHOD_GET, "/api/artifacts/{id}", SCOPE_ANY, STYLE_DETAIL, .handle = get_one,
      .summary = "One artifact", .replies = REPLIES({ 200, .fields = artifact_reply }) },
    { METHOD_PUT, "/api/artifacts/{id}", SCOPE_RUN, STYLE_DETAIL, .body = update_fields,
      .flags = ROUTE_LENIENT, .handle = update, .summary = "A new version of an artifact",
      .replies = REPLIES({ 200, .fields = artifact_reply }) },
    { METHOD_DELETE, "/api/artifacts/{id}", SCOPE_RUN, STYLE_DETAIL, .handle = delete_one,
      .summary = "Delete an artifact", .replies = REPLIES({ .status = 204 }) },
    { METHOD_POST, "/api/artifacts/{id}/fork", SCOPE_RUN, STYLE_DETAIL, .handle = fork_one,
      .summary = "A copy of an artifact", .replies = REPLIES({ 200, .fields = artifact_reply }) },
    { METHOD_GET, "/api/artifacts/{id}/versions", SCOPE_ANY, STYLE_DETAIL, .handle = versions,
      .summary = "Every version of an artifact, oldest first",
      .replies = REPLIES({ 200, .fields = artifact_reply, .list = true }) },
    { METHOD_GET, "/api/artifacts/{id}/download", SCOPE_ANY, STYLE_DETAIL, .handle = download,
      .summary = "An artifact as a file",
      .replies = REPLIES({ 200, .content_type = "text/plain" },
                         { 200, .fields = download_reply }) },
    { METHOD_POST, "/api/artifacts/{id}/execute", SCOPE_RUN, STYLE_DETAIL, .body = execute_fields,
      .flags = ROUTE_BODY_OPTIONAL | ROUTE_LENIENT, .handle = execute, .summary = "Run an artifact",
      .replies = REPLIES({ 200, .fields = execution_reply }) },
    { 0 },
};
