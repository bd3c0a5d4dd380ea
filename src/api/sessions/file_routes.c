/* /v1/sessions/{id}/files: the files in /sandbox of a session that lives, also while a cell runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/approvals/approvals.h"
#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/runs/run_spec.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "spec/bundle.h"
#include "store/audit_log.h"

#define YEAR_9999_MS 253402300799000

struct file_call {
    struct session_visit visit;
    struct api_call *call;
    void (*answer)(struct file_call *f); /* takes over the call and this */
    uint64_t bytes;                      /* of a write */
};

static void file_call_free(void *f)
{
    buf_done(&((struct file_call *)f)->visit.answer);
    free(f);
}

static void on_done(struct session_visit *v, const struct err *e)
{
    struct file_call *f = (struct file_call *)v;
    if (!e) {
        f->answer(f);
        return;
    }
    api_fail(f->call, e, NULL);
    file_call_free(f);
}

static void visit(struct api_call *c, enum live_file_operation operation, const char *path,
                  const struct buf *bytes, void (*answer)(struct file_call *))
{
    struct err e = { 0 };
    struct session *s = session_to_use(c);
    if (!s)
        return;
    struct file_call *f = calloc(1, sizeof *f);
    if (!f) {
        api_fail_no_memory(c);
        return;
    }
    f->call = c;
    f->answer = answer;
    f->bytes = bytes ? bytes->len : 0;
    f->visit.on_done = on_done;
    if ((path[0] != '\0' && bundle_name_check(path, strlen(path), &e)) ||
        session_visit(s, &f->visit, operation, path, bytes, &e)) {
        file_call_free(f);
        api_fail(c, &e, NULL);
    }
}

static json_t *text_of(const char *name, size_t n,
                       int (*add)(struct buf *, const char *, size_t, struct err *))
{
    scoped(buf) text = { 0 };
    struct err e;
    return add(&text, name, n, &e) ? NULL : json_stringn(buf_str(&text), text.len);
}

static int add_base64(struct buf *b, const char *bytes, size_t n, struct err *e)
{
    return text_add_base64(b, bytes, n, e);
}

static void put_path(json_t *o, const char *name, size_t n)
{
    json_put(o, "path", text_of(name, n, text_add_utf8));
    if (!text_is_utf8(name, n))
        json_put(o, "path_base64", text_of(name, n, add_base64));
}

/* ---- the list ---- */

static const char *const types[] = { "file", "directory", "symlink", "other", NULL };

static const char *type_word(uint32_t mode)
{
    return types[S_ISREG(mode) ? 0 : S_ISDIR(mode) ? 1 : S_ISLNK(mode) ? 2 : 3];
}

/* A time is a guest's word, too. */
static json_t *time_or_null(int64_t ms)
{
    return ms > 0 && ms < YEAR_9999_MS ? result_time((uint64_t)ms) : json_null();
}

static json_t *row_object(const struct live_file_row *row)
{
    char mode[16];
    (void)snprintf(mode, sizeof mode, "%04o", row->record.mode & 07777);
    json_t *o = json_pack("{s:s, s:s, s:I}", "type", type_word(row->record.mode), "mode", mode,
                          "size", (json_int_t)(row->record.size & INT64_MAX));
    put_path(o, row->name, row->record.name_len);
    json_put(o, "modified_at", time_or_null(row->record.mtime_ms));
    return o;
}

static int compare_rows(const void *a, const void *b)
{
    const struct live_file_row *x = a, *y = b;
    size_t n = x->record.name_len < y->record.name_len ? x->record.name_len : y->record.name_len;
    int order = memcmp(x->name, y->name, n);
    return order != 0 ? order : (x->record.name_len > n) - (y->record.name_len > n);
}

/* In a thread: a list may have 10,000 files. */
static json_t *make_list(void *context)
{
    const struct file_call *f = context;
    struct live_file_row *rows = calloc(LIVE_FILES_LISTED_MAX, sizeof *rows);
    size_t n = 0, pos = 0;
    if (!rows)
        return NULL;
    while (n < LIVE_FILES_LISTED_MAX && live_list_next(&f->visit.answer, &pos, &rows[n]))
        n++;
    qsort(rows, n, sizeof *rows, compare_rows);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, row_object(&rows[i]));
    free(rows);
    return json_pack("{s:o, s:b}", "files", list, "cut", f->visit.last.status == LIVE_CUT);
}

static void answer_list(struct file_call *f)
{
    api_reply_made(f->call, 200, make_list, file_call_free, f);
}

static const struct api_field list_query[] = {
    { "path", FIELD_STRING, .help = "only this directory and the directories in it" },
    { 0 },
};

static void list_files(struct api_call *c)
{
    struct err e = { 0 };
    char text[BUNDLE_NAME_MAX + 1];
    const char *path;
    if (api_query(c, "path", text, sizeof text, &path, &e)) {
        api_fail(c, &e, "path");
        return;
    }
    visit(c, LIVE_LIST, path ? path : "", NULL, answer_list);
}

/* ---- one file ---- */

static const char bytes_type[] = "application/octet-stream";

static void answer_bytes(struct file_call *f)
{
    const struct session_visit *v = &f->visit;
    api_reply_text(f->call, 200, bytes_type, buf_str(&v->answer), (size_t)v->last.size);
    file_call_free(f);
}

static void get_file(struct api_call *c)
{
    visit(c, LIVE_READ, c->params[1], NULL, answer_bytes);
}

/* ---- changes ---- */

static void answer_written(struct file_call *f)
{
    json_t *o = json_pack("{s:I}", "size", (json_int_t)f->bytes);
    put_path(o, f->visit.path, strlen(f->visit.path));
    api_reply(f->call, 200, o);
    file_call_free(f);
}

static void answer_removed(struct file_call *f)
{
    api_reply_text(f->call, 204, "application/json", "", 0);
    file_call_free(f);
}

static const struct {
    const char *kind; /* of the audit record */
    void (*answer)(struct file_call *f);
} changes[] = {
    [LIVE_WRITE] = { "session.file_write", answer_written },
    [LIVE_REMOVE] = { "session.file_remove", answer_removed },
};

/* The audit record of a change that was asked for. The change follows its record: no file changes
 * without one. */
struct change {
    struct api_job job;
    enum live_file_operation operation;
    int64_t now_ms;
    char *detail;
};

static int record_change(struct db *db, struct store_job *job, struct err *e)
{
    const struct change *x = (const struct change *)job;
    const struct audit_record r = { .time_ms = x->now_ms,
                                    .kind = changes[x->operation].kind,
                                    .subject = x->job.call->params[0],
                                    .actor = x->job.call->who.name,
                                    .detail = x->detail };
    return audit_append(db, &r, e);
}

/* A client that is gone has taken its bytes along. */
static void on_recorded(struct store_job *job)
{
    struct change *x = (struct change *)job;
    struct api_call *c = x->job.call;
    struct err e = job->err;
    bool writes = x->operation == LIVE_WRITE;
    if (e.code == ERR_NONE && writes && !c->http)
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the client is gone");
    if (e.code == ERR_NONE)
        visit(c, x->operation, c->params[1], writes ? &c->http->request.body : NULL,
              changes[x->operation].answer);
    else
        api_fail(c, &e, NULL);
    free(x->detail);
    free(x);
}

/* Rules hold for a file as for a file of a run: it can be code. A cell is shown to its approver
 * without the files, so they do not change where a person is asked. */
static int check_rules(const struct api_call *c, const struct session *s, const struct buf *bytes,
                       struct err *e)
{
    char field[128];
    struct admission admission;
    scoped(run_spec) run = { 0 };
    json_auto_t *request = json_pack("{s:s}", "language", s->spec.language->name);
    if (run_spec_of_session(c->api, &c->who, request, &run, field, sizeof field, e) ||
        bundle_add(&run.bundle, c->params[1], 0644, buf_str(bytes), bytes->len, e))
        return -1;
    run.thread = strdup(s->id);
    if (!run.thread)
        return err_no_memory(e, "a change of a file");
    if (approvals_admit(c->api, &run, NULL, &admission, e))
        return -1;
    if (admission.kind == ADMISSION_DENIED)
        return err_set(e, ERR_DENIED, 0, "the file is %s", admission.reason);
    if (admission.kind == ADMISSION_NEEDS_APPROVAL)
        return err_set(e, ERR_DENIED, 0,
                       "%s, and a change of a file is shown to nobody: change it in a cell",
                       admission.reason);
    return 0;
}

static int check_change(const struct api_call *c, const struct session *s, const struct buf *bytes,
                        struct err *e)
{
    if (bytes->len > LIVE_FILE_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "the file has %zu bytes: up to %d are accepted",
                       bytes->len, LIVE_FILE_BYTES_MAX);
    return bundle_name_check(c->params[1], strlen(c->params[1]), e) ||
                   check_rules(c, s, bytes, e) || storage_check(c->api, e)
               ? -1
               : 0;
}

static char *change_detail(const char *path, enum live_file_operation operation, size_t bytes)
{
    json_t *o = json_object();
    put_path(o, path, strlen(path));
    if (operation == LIVE_WRITE)
        json_put(o, "size", json_integer((json_int_t)bytes));
    return json_line(o);
}

static void change(struct api_call *c, enum live_file_operation operation)
{
    struct err e = { 0 };
    const struct buf *bytes = operation == LIVE_WRITE ? &c->http->request.body : &(struct buf){ 0 };
    const struct session *s = session_to_use(c);
    if (!s)
        return;
    if (check_change(c, s, bytes, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    char *detail = change_detail(c->params[1], operation, bytes->len);
    struct change *x = detail ? api_job_new(c, sizeof *x, record_change, on_recorded) : NULL;
    if (!x) {
        if (!detail)
            api_fail_no_memory(c);
        free(detail);
        return;
    }
    x->operation = operation;
    x->now_ms = clock_unix_ms();
    x->detail = detail;
    api_job_write(&x->job);
}

static void put_file(struct api_call *c)
{
    change(c, LIVE_WRITE);
}

static void delete_file(struct api_call *c)
{
    change(c, LIVE_REMOVE);
}

/* ---- answers ---- */

static const struct api_field row_reply[] = {
    { "path", FIELD_STRING, ALWAYS, .help = "its name inside /sandbox" },
    { "path_base64", FIELD_STRING, .help = "the exact bytes of the name, if they are not UTF-8" },
    { "type", FIELD_STRING, ALWAYS, .one_of = types, .help = "only a file can be read" },
    { "size", FIELD_INT, ALWAYS, .help = "bytes of a file" },
    { "mode", FIELD_STRING, ALWAYS, .help = "permissions, as 0644" },
    { "modified_at", FIELD_STRING, OR_NULL, .help = "time of its last change, if it is plausible" },
    { 0 },
};
static const struct api_field list_reply[] = {
    { "files", FIELD_OBJECTS, ALWAYS, .fields = row_reply, .help = "by name" },
    { "cut", FIELD_BOOL, ALWAYS,
      .help = "true: there are more than 10,000, or a name is too long" },
    { .schema = "SessionFiles" },
};
static const struct api_field written_reply[] = {
    { "path", FIELD_STRING, ALWAYS, .help = "its name inside /sandbox" },
    { "path_base64", FIELD_STRING, .help = "the exact bytes of the name, if they are not UTF-8" },
    { "size", FIELD_INT, ALWAYS, .help = "bytes that were written" },
    { .schema = "SessionFileWritten" },
};
const struct api_route session_file_routes[] = {
    { METHOD_GET, "/v1/sessions/{id}/files", SCOPE_RUN, .query = list_query, .handle = list_files,
      .summary = "The files in /sandbox of a session, also while a cell runs",
      .replies = REPLIES({ 200, .fields = list_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/files/{path...}", SCOPE_RUN, .handle = get_file,
      .summary = "The bytes of a file of a session, up to 16 MiB",
      .replies = REPLIES({ 200, .content_type = bytes_type }) },
    { METHOD_PUT, "/v1/sessions/{id}/files/{path...}", SCOPE_RUN, .flags = ROUTE_RAW,
      .handle = put_file,
      .summary = "Write a file of a session, and the directories in its path: the body is its "
                 "bytes, up to 16 MiB",
      .replies = REPLIES({ 200, .fields = written_reply }) },
    { METHOD_DELETE, "/v1/sessions/{id}/files/{path...}", SCOPE_RUN, .handle = delete_file,
      .summary = "Remove a file, or an empty directory, of a session",
      .replies = REPLIES({ 204, .help = "it is removed" }) },
    { 0 },
};
