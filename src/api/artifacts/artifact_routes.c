/* /api/artifacts: pieces of text with versions, some of which can be run. */
#include "store/artifact_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/approvals/approvals.h"
#include "api/artifacts/detect.h"
#include "api/runs/run_fields.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "runtime/language.h"
#include "spec/permission.h"

enum { OUTPUT_SHOWN_MAX = 1 << 20, TIMEOUT_DEFAULT_MS = 10000 };

/* One call: what it works on, and what the store found. */
struct art_job {
    struct store_job job;
    struct run_watch watch; /* of execute */
    struct api_call *call;
    struct run *exec;
    struct artifact_row in, row;
    struct artifact_rows rows;
    int64_t now_ms;
};

static void art_free(struct art_job *j)
{
    artifact_row_done(&j->in);
    artifact_row_done(&j->row);
    artifact_rows_done(&j->rows);
    free(j);
}

static struct art_job *art_new(struct api_call *c,
                               int (*work)(struct db *, struct store_job *, struct err *),
                               void (*done)(struct store_job *))
{
    struct art_job *j = calloc(1, sizeof *j);
    if (!j) {
        api_fail_no_memory(c);
        return NULL;
    }
    j->job.work = work;
    j->job.done = done;
    j->call = c;
    j->now_ms = clock_unix_ms();
    j->in.id = strdup(c->params[0]);
    return j;
}

/* True when the job failed, and was answered and freed. */
static bool art_failed(struct art_job *j)
{
    struct err e = j->job.err;
    if (e.code == ERR_NONE)
        return false;
    if (e.code == ERR_NOT_FOUND)
        (void)snprintf(e.text, sizeof e.text, "Artifact not found");
    api_fail(j->call, &e, NULL);
    art_free(j);
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
    struct art_job *j = (struct art_job *)job;
    return artifacts_get(db, j->in.id, &j->row, e);
}

static void reply_row(struct store_job *job)
{
    struct art_job *j = (struct art_job *)job;
    if (art_failed(j))
        return;
    api_reply(j->call, 200, artifact_object(&j->row));
    art_free(j);
}

static void reply_created(struct store_job *job)
{
    struct art_job *j = (struct art_job *)job;
    if (art_failed(j))
        return;
    api_reply(j->call, 201, artifact_object(&j->row));
    art_free(j);
}

static void reply_rows(struct store_job *job)
{
    struct art_job *j = (struct art_job *)job;
    if (art_failed(j))
        return;
    api_reply(j->call, 200, artifact_list(&j->rows));
    art_free(j);
}

static void read_by(struct api_call *c, int (*work)(struct db *, struct store_job *, struct err *),
                    void (*done)(struct store_job *))
{
    struct art_job *j = art_new(c, work, done);
    if (j)
        store_read(c->api->store, &j->job);
}

/* ---- make, read, change ---- */
static int insert_work(struct db *db, struct store_job *job, struct err *e)
{
    struct art_job *j = (struct art_job *)job;
    if (!j->in.id || !j->in.title || !j->in.content || !j->in.language || !j->in.type)
        return err_no_memory(e, "an artifact");
    return artifacts_insert(db, &j->in, e) || artifacts_get(db, j->in.id, &j->row, e) ? -1 : 0;
}

static void create(struct api_call *c)
{
    char id[ID_SIZE];
    const char *language = api_text(c, "language");
    struct art_job *j = art_new(c, insert_work, reply_created);
    if (!j)
        return;
    id_make("art_", id);
    artifact_row_done(&j->in);
    j->in = (struct artifact_row){ .id = strdup(id),
                                   .conversation = text_copy(api_text(c, "conversation_id")),
                                   .title = text_copy(api_text(c, "title")),
                                   .content = text_copy(api_text(c, "content")),
                                   .language = text_copy(language),
                                   .type = strdup(artifact_type(language)),
                                   .created_ms = j->now_ms };
    store_write(c->api->store, &j->job);
}

static void detect(struct api_call *c)
{
    const json_t *content = json_object_get(c->body, "content");
    json_t *list = detect_artifacts(json_string_value(content), json_string_length(content));
    if (list)
        api_reply(c, 200, list);
    else
        api_fail_no_memory(c);
}

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct art_job *j = (struct art_job *)job;
    return artifacts_of_conversation(db, j->in.id, &j->rows, e);
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
    struct art_job *j = (struct art_job *)job;
    return artifacts_update(db, j->in.id, j->in.content, j->in.title, j->now_ms, &j->row, e);
}

static void update(struct api_call *c)
{
    struct err e;
    if (!api_text(c, "content") && !api_text(c, "title")) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "nothing to change: give content, title or both");
        api_fail(c, &e, NULL);
        return;
    }
    struct art_job *j = art_new(c, update_work, reply_row);
    if (!j)
        return;
    j->in.content = text_copy(api_text(c, "content"));
    j->in.title = text_copy(api_text(c, "title"));
    store_write(c->api->store, &j->job);
}

static int delete_work(struct db *db, struct store_job *job, struct err *e)
{
    struct art_job *j = (struct art_job *)job;
    return artifacts_delete(db, j->in.id, j->now_ms, e);
}

static void delete_done(struct store_job *job)
{
    struct art_job *j = (struct art_job *)job;
    if (art_failed(j))
        return;
    api_reply_text(j->call, 204, "application/json", "", 0);
    art_free(j);
}

static void delete_one(struct api_call *c)
{
    struct art_job *j = art_new(c, delete_work, delete_done);
    if (j)
        store_write(c->api->store, &j->job);
}

static int fork_work(struct db *db, struct store_job *job, struct err *e)
{
    struct art_job *j = (struct art_job *)job;
    char id[ID_SIZE];
    scoped(artifact_row) parent = { 0 };
    if (artifacts_get(db, j->in.id, &parent, e))
        return -1;
    id_make("art_", id);
    /* strings are the parent's: the insert copies */
    struct artifact_row child = parent;
    child.id = id;
    child.parent = parent.id;
    child.created_ms = j->now_ms;
    return artifacts_insert(db, &child, e) || artifacts_get(db, id, &j->row, e) ? -1 : 0;
}

static void fork_one(struct api_call *c)
{
    struct art_job *j = art_new(c, fork_work, reply_created);
    if (j)
        store_write(c->api->store, &j->job);
}

static int versions_work(struct db *db, struct store_job *job, struct err *e)
{
    struct art_job *j = (struct art_job *)job;
    return get_work(db, job, e) || artifacts_versions(db, j->in.id, &j->rows, e) ? -1 : 0;
}

static void versions(struct api_call *c)
{
    read_by(c, versions_work, reply_rows);
}

/* ---- download ---- */
static const char *extension_of(const char *language)
{
    static const struct {
        const char *language, *extension;
    } others[] = {
        { "html", ".html" },     { "htm", ".html" },  { "svg", ".svg" },     { "mermaid", ".mmd" },
        { "latex", ".tex" },     { "tex", ".tex" },   { "css", ".css" },     { "json", ".json" },
        { "markdown", ".md" },   { "md", ".md" },     { "yaml", ".yaml" },   { "sql", ".sql" },
        { "typescript", ".ts" }, { "ts", ".ts" },     { "go", ".go" },       { "rust", ".rs" },
        { "c", ".c" },           { "cpp", ".cpp" },   { "c++", ".cpp" },     { "java", ".java" },
        { "ruby", ".rb" },       { "php", ".php" },   { "r", ".r" },         { "perl", ".pl" },
        { "lua", ".lua" },       { "kotlin", ".kt" }, { "swift", ".swift" },
    };
    const struct language *l = language_find(language);
    if (l)
        return l->extensions[0];
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcasecmp(others[i].language, language) == 0)
            return others[i].extension;
    return ".txt";
}

/* Letters, digits, - and _ of the title; everything else is one _. Nothing of it can end the header's string or name a
 * place on the reader's disk. */
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

static void download_done(struct store_job *job)
{
    struct art_job *j = (struct art_job *)job;
    char name[128], header[192];
    if (art_failed(j))
        return;
    file_name(&j->row, name, sizeof name);
    (void)snprintf(header, sizeof header, "attachment; filename=\"%s\"", name);
    if (j->call->http)
        http_answer_header(j->call->http, "Content-Disposition", header);
    api_reply_text(j->call, 200, "text/plain; charset=utf-8", j->row.content,
                   strlen(j->row.content));
    art_free(j);
}

static void download(struct api_call *c)
{
    read_by(c, get_work, download_done);
}

/* ---- execute ---- */
static void reply_execution(struct art_job *j, json_t *execution)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "artifact_id", j->row.id, "title", j->row.title,
                          "language", j->row.language, "execution", execution);
    if (o)
        api_reply(j->call, 200, o);
    else
        api_fail_no_memory(j->call);
    art_free(j);
}

static json_t *error_text(const struct result *r, const json_t *err)
{
    char line[128], span[32];
    if (json_string_length(err) > 0)
        return json_incref((json_t *)err);
    if (r->error)
        return json_string(r->error);
    if (r->verdict == VERDICT_OK || r->verdict == VERDICT_RUNTIME_ERROR)
        return json_null();
    if (r->verdict == VERDICT_TIMEOUT || r->verdict == VERDICT_CPU_TIMEOUT)
        (void)snprintf(line, sizeof line, "Timed out after %s",
                       unit_format(UNIT_MS, r->limits.v[LIMIT_WALL_MS], span, sizeof span));
    else
        (void)snprintf(line, sizeof line, "The run ended with verdict %s",
                       verdict_word(r->verdict));
    return json_string(line);
}

/* The five fields clients know, then everything a result has. */
static json_t *execution_object(const struct api *api, const struct run *x)
{
    const struct result *r = &x->result;
    json_t *all = run_result_object(x, OUTPUT_SHOWN_MAX);
    json_t *out = json_object_get(all, "stdout"), *err = json_object_get(all, "stderr");
    bool late = r->verdict == VERDICT_TIMEOUT || r->verdict == VERDICT_CPU_TIMEOUT;
    json_t *o = json_pack("{s:b, s:o, s:o, s:f, s:i}", "success", r->verdict == VERDICT_OK,
                          "output", out ? json_incref(out) : json_string(""), "error",
                          error_text(r, err), "execution_time", (double)r->usage.wall_us / 1e6,
                          "return_code", late ? -1 : verdict_exit_code(r->verdict, &r->evidence));
    json_t *approval = approvals_of_run(api, x->id);
    (void)json_object_del(all, "stdout");
    (void)json_object_del(all, "stderr");
    (void)json_object_update_missing(o, all);
    if (approval)
        (void)json_object_set_new(o, "approval", approval);
    json_decref(all);
    return o;
}

static void execute_news(struct run_watch *w, struct run *x, enum run_event what)
{
    struct art_job *j = (struct art_job *)((char *)w - offsetof(struct art_job, watch));
    if (what != RUN_EVENT_DONE)
        return;
    struct err lost = x->record_err; /* what the history does not have is no result */
    json_t *execution = lost.code == ERR_NONE ? execution_object(j->call->api, x) : NULL;
    run_watch_remove(x, w);
    if (execution) {
        reply_execution(j, execution);
        return;
    }
    if (lost.code == ERR_NONE)
        (void)!err_no_memory(&lost, "the answer");
    api_fail(j->call, &lost, NULL);
    art_free(j);
}

static json_t *run_object(const struct art_job *j)
{
    const json_t *timeout = json_object_get(j->call->body, "timeout");
    double wall_ms = timeout ? json_number_value(timeout) * 1000 : TIMEOUT_DEFAULT_MS;
    return json_pack("{s:s, s:s, s:o, s:s*}", "language", j->row.language, "code", j->row.content,
                     "limits", run_time_limits(j->call->api->settings, (uint64_t)ceil(wall_ms)),
                     "thread_id", api_text(j->call, "thread_id"));
}

static int start_run(struct art_job *j, char *field, size_t field_size, struct err *e)
{
    struct api *api = j->call->api;
    struct run_spec spec = { 0 };
    json_t *o = run_object(j);
    if (!o)
        return err_no_memory(e, "the request");
    int failed = api_validate(o, run_fields, false, field, field_size, e) ||
                 run_spec_from_json(api, &j->call->who, o, "artifacts", &spec, field, field_size,
                                    e);
    json_decref(o);
    if (failed)
        return -1;
    free(spec.artifact);
    spec.artifact = strdup(j->row.id);
    j->watch.on_event = execute_news;
    return approvals_run(api, &spec, api_text(j->call, "permission_mode"), 0, &j->watch, &j->exec,
                         e);
}

static void reply_unsupported(struct art_job *j)
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
    struct art_job *j = (struct art_job *)job;
    char field[128] = "";
    struct err e;
    if (art_failed(j))
        return;
    if (strcmp(j->row.type, "code") != 0) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "Cannot execute artifact of type '%s'", j->row.type);
        api_fail(j->call, &e, NULL);
        art_free(j);
    } else if (!language_find(j->row.language)) {
        reply_unsupported(j);
    } else if (start_run(j, field, sizeof field, &e)) {
        api_fail(j->call, &e, field[0] ? field : NULL);
        art_free(j);
    }
}

static void execute(struct api_call *c)
{
    read_by(c, get_work, execute_found);
}

/* ---- the table ---- */
static const struct api_field create_fields[] = {
    { "content", FIELD_STRING, .required = true, .help = "the text of the artifact" },
    { "title", FIELD_STRING, .required = true, .max = 1000, .help = "what it is called" },
    { "language", FIELD_STRING, .required = true, .max = 64,
      .help = "such as python, html or mermaid; it makes the type of the artifact" },
    { "conversation_id", FIELD_STRING, .max = 256, .help = "the conversation it belongs to" },
    { 0 },
};
static const struct api_field detect_fields[] = {
    { "content", FIELD_STRING, .required = true, .help = "the Markdown to look through" },
    { "conversation_id", FIELD_STRING, .max = 256, .help = "accepted, and not used" },
    { 0 },
};
static const struct api_field update_fields[] = {
    { "content", FIELD_STRING, .help = "the new text" },
    { "title", FIELD_STRING, .max = 1000, .help = "the new title" },
    { 0 },
};
static const struct api_field execute_fields[] = {
    { "timeout", FIELD_NUMBER, .min = 0.001, .max = 86400,
      .help = "how many seconds it may take; 10 by default" },
    { "thread_id", FIELD_STRING, .max = 256, .help = "whose approvals and rules hold" },
    { "permission_mode", FIELD_STRING, .one_of = permission_modes,
      .help = "default, manual and acceptEdits ask a person first" },
    { 0 },
};

const struct api_route artifact_routes[] = {
    { METHOD_POST, "/api/artifacts/create", SCOPE_RUN, STYLE_DETAIL, create_fields, NULL,
      ROUTE_LENIENT, create, "Make an artifact" },
    { METHOD_POST, "/api/artifacts/detect", SCOPE_RUN, STYLE_DETAIL, detect_fields, NULL,
      ROUTE_LENIENT, detect, "Find the artifacts in a text of Markdown" },
    { METHOD_GET, "/api/artifacts/conversations/{conversation_id}/artifacts", SCOPE_READ,
      STYLE_DETAIL, NULL, NULL, 0, list_of_conversation,
      "A conversation's artifacts, newest first" },
    { METHOD_GET, "/api/artifacts/{id}", SCOPE_READ, STYLE_DETAIL, NULL, NULL, 0, get_one,
      "One artifact" },
    { METHOD_PUT, "/api/artifacts/{id}", SCOPE_RUN, STYLE_DETAIL, update_fields, NULL,
      ROUTE_LENIENT, update, "A new version of an artifact" },
    { METHOD_DELETE, "/api/artifacts/{id}", SCOPE_RUN, STYLE_DETAIL, NULL, NULL, 0, delete_one,
      "Delete an artifact" },
    { METHOD_POST, "/api/artifacts/{id}/fork", SCOPE_RUN, STYLE_DETAIL, NULL, NULL, 0, fork_one,
      "A copy of an artifact" },
    { METHOD_GET, "/api/artifacts/{id}/versions", SCOPE_READ, STYLE_DETAIL, NULL, NULL, 0, versions,
      "Every version of an artifact, oldest first" },
    { METHOD_GET, "/api/artifacts/{id}/download", SCOPE_READ, STYLE_DETAIL, NULL, NULL, 0, download,
      "An artifact as a file" },
    { METHOD_POST, "/api/artifacts/{id}/execute", SCOPE_RUN, STYLE_DETAIL, execute_fields, NULL,
      ROUTE_BODY_OPTIONAL | ROUTE_LENIENT, execute, "Run an artifact" },
    { .path = NULL },
};
