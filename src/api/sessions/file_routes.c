/* /v1/sessions/{id}/files: the files in /sandbox of a session that lives, also while a cell runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "spec/bundle.h"

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
    struct session *s = session_to_change(c);
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

static json_t *text_of(const struct live_file_row *row,
                       int (*add)(struct buf *, const char *, size_t, struct err *))
{
    scoped(buf) text = { 0 };
    struct err e;
    return add(&text, row->name, row->record.name_len, &e) ? NULL
                                                           : json_stringn(buf_str(&text), text.len);
}

static int add_base64(struct buf *b, const char *bytes, size_t n, struct err *e)
{
    return text_add_base64(b, bytes, n, e);
}

static json_t *row_object(const struct live_file_row *row)
{
    char mode[16];
    (void)snprintf(mode, sizeof mode, "%04o", row->record.mode & 07777);
    json_t *o = json_pack("{s:s, s:s, s:I}", "type", type_word(row->record.mode), "mode", mode,
                          "size", (json_int_t)(row->record.size & INT64_MAX));
    json_put(o, "path", text_of(row, text_add_utf8));
    if (!text_is_utf8(row->name, row->record.name_len))
        json_put(o, "path_base64", text_of(row, add_base64));
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

static void answer_bytes(struct file_call *f)
{
    const struct session_visit *v = &f->visit;
    api_reply_text(f->call, 200, "application/octet-stream", buf_str(&v->answer),
                   (size_t)v->last.size);
    file_call_free(f);
}

static void get_file(struct api_call *c)
{
    visit(c, LIVE_READ, c->params[1], NULL, answer_bytes);
}

static void answer_written(struct file_call *f)
{
    scoped(buf) path = { 0 };
    struct err e;
    (void)!text_add_utf8(&path, f->visit.path, strlen(f->visit.path), &e);
    api_reply(f->call, 200,
              json_pack("{s:s, s:I}", "path", buf_str(&path), "size", (json_int_t)f->bytes));
    file_call_free(f);
}

static void put_file(struct api_call *c)
{
    struct err e = { 0 };
    const struct buf *body = &c->http->request.body;
    if (body->len <= LIVE_FILE_BYTES_MAX) {
        visit(c, LIVE_WRITE, c->params[1], body, answer_written);
        return;
    }
    (void)!err_set(&e, ERR_TOO_LARGE, 0, "the file has %zu bytes: up to %d are accepted", body->len,
                   LIVE_FILE_BYTES_MAX);
    api_fail(c, &e, NULL);
}

static void answer_removed(struct file_call *f)
{
    api_reply_text(f->call, 204, "application/json", "", 0);
    file_call_free(f);
}

static void delete_file(struct api_call *c)
{
    visit(c, LIVE_REMOVE, c->params[1], NULL, answer_removed);
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
    { "size", FIELD_INT, ALWAYS, .help = "bytes that were written" },
    { .schema = "SessionFileWritten" },
};
static const char bytes_type[] = "application/octet-stream";

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
