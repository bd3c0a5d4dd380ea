/* The tools: few, and named as a model would expect. */
#include "api/doors/mcp/mcp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/meta/openapi.h"
#include "base/auto.h"
#include "base/text.h"
#include "engine/engine.h"
#include "run/json.h"
#include "spec/bundle.h"

enum { TEXT_SHOWN = 8000, TEXT_SHOWN_MAX = 200000, FILES_SHOWN = 200, FORKS_SHOWN = 8 };

/* ---- results ---- */

void mcp_tool_answer(struct mcp_request *r, json_t *content, json_t *structured, bool failed)
{
    json_t *o = json_pack("{s:o, s:b}", "content", content, "isError", failed);
    if (structured && r->client.revision >= MCP_2025_06_18)
        json_put(o, "structuredContent", structured);
    else
        json_decref(structured);
    mcp_answer(r, o);
}

void mcp_tool_fail(struct mcp_request *r, const char *fmt, ...)
{
    char text[800];
    va_list ap;
    json_t *content = json_array();
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mcp_add_text(content, text, strlen(text));
    mcp_tool_answer(r, content, NULL, true);
}

void mcp_tool_refused(struct mcp_request *r, const struct inner_answer *a)
{
    if (a->refusal)
        mcp_tool_fail(r, "%s%s%s", a->field ? a->field : "", a->field ? ": " : "",
                      ERR_SHOWN(a->refusal));
    else
        mcp_tool_fail(r, "the service answered with status %d", a->status);
}

/* One text and the structured form of it. Takes over the structured form. */
static void answer_text(struct mcp_request *r, const char *text, json_t *structured)
{
    json_t *content = json_array();
    mcp_add_text(content, text, strlen(text));
    mcp_tool_answer(r, content, structured, false);
}

/* ---- files of a session ---- */

static const struct api_field list_input[] = {
    { "session", FIELD_STRING, .max = 64, .help = "id of a session; that of run_cell by default" },
    { "path", FIELD_STRING, .max = BUNDLE_NAME_MAX, .help = "only this directory" },
    { 0 },
};
static const struct api_field file_row[] = {
    { "path", FIELD_STRING, ALWAYS, .help = "relative to /sandbox" },
    { "type", FIELD_STRING, ALWAYS, .help = "file, directory, symlink or other" },
    { "size", FIELD_INT, ALWAYS, .help = "bytes" },
    { 0 },
};
static const struct api_field list_output[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "files", FIELD_OBJECTS, ALWAYS, .fields = file_row, .help = "by name; at most 200" },
    { "more", FIELD_INT, ALWAYS, .help = "number of files that are not shown" },
    { 0 },
};

static void on_listed(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    const json_t *files = json_object_get(a->json, "files");
    size_t n = json_array_size(files), shown = n < FILES_SHOWN ? n : FILES_SHOWN;
    scoped(buf) text = { 0 };
    struct err e;
    json_t *rows = json_array();
    for (size_t i = 0; i < shown; i++) {
        const json_t *f = json_array_get(files, i);
        const char *path = mcp_text(f, "path"), *type = mcp_text(f, "type");
        long long size = json_integer_value(json_object_get(f, "size"));
        (void)!buf_addf(&text, &e, "%s  %s  %lld bytes\n", path, type, size);
        (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:I}", "path", path, "type", type,
                                                    "size", (json_int_t)size));
    }
    if (n > shown)
        (void)!buf_addf(&text, &e, "and %zu more: give `path`\n", n - shown);
    json_t *o = json_pack("{s:s, s:o, s:I}", "session", r->target, "files", rows, "more",
                          (json_int_t)(n - shown));
    if (a->refusal) {
        json_decref(o);
        mcp_tool_refused(r, a);
    } else {
        answer_text(r, n ? buf_str(&text) : "there are no files", o);
    }
    mcp_release(r);
}

static void list_in(struct mcp_request *r, const char *id)
{
    char path[96];
    scoped(buf) query = { 0 };
    struct err e;
    (void)snprintf(path, sizeof path, "/v1/sessions/%s/files", id);
    (void)!inner_query_add(&query, "path", mcp_text(r->arguments, "path"), &e);
    mcp_call(r, METHOD_GET, path, buf_str(&query), NULL, on_listed);
}

static void list_files(struct mcp_request *r)
{
    mcp_with_sandbox(r, NULL, false, list_in);
}

/* "/v1/sessions/ID/files/PATH"; a path may be given as the program sees it. */
static int file_path(const struct mcp_request *r, const char *id, struct buf *ret, struct err *e)
{
    const char *path = mcp_text(r->arguments, "path");
    if (strncmp(path, "/sandbox/", 9) == 0)
        path += 9;
    return buf_addf(ret, e, "/v1/sessions/%s/files/%s", id, path);
}

static const struct api_field read_input[] = {
    { "session", FIELD_STRING, .max = 64, .help = "id of a session; that of run_cell by default" },
    { "path", FIELD_STRING, .required = true, .min = 1, .max = BUNDLE_NAME_MAX,
      .help = "the file, relative to /sandbox" },
    { "max_bytes", FIELD_INT, .min = 1, .max = TEXT_SHOWN_MAX,
      .help = "8000 by default; a longer text is cut in the middle" },
    { 0 },
};

static const struct {
    const char *suffix, *type;
} image_types[] = {
    { ".png", "image/png" }, { ".jpg", "image/jpeg" },  { ".jpeg", "image/jpeg" },
    { ".gif", "image/gif" }, { ".webp", "image/webp" },
};

static const char *image_type(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++) {
        size_t m = strlen(image_types[i].suffix);
        if (n > m && strcmp(path + n - m, image_types[i].suffix) == 0)
            return image_types[i].type;
    }
    return NULL;
}

static void add_bytes(struct mcp_request *r, json_t *content, const struct inner_answer *a)
{
    const char *path = mcp_text(r->arguments, "path"), *type = image_type(path);
    const json_t *most = json_object_get(r->arguments, "max_bytes");
    size_t max = most ? (size_t)json_integer_value(most) : TEXT_SHOWN;
    scoped(buf) text = { 0 };
    struct err e;
    if (type && text_add_base64(&text, a->bytes, a->n, &e) == 0) {
        (void)json_array_append_new(content, json_pack("{s:s, s:s, s:s}", "type", "image", "data",
                                                       buf_str(&text), "mimeType", type));
        return;
    }
    if (!text_is_utf8(a->bytes, a->n)) {
        (void)!buf_addf(&text, &e, "%s has %zu bytes that are no text", path, a->n);
        mcp_add_text(content, text.data, text.len);
        return;
    }
    mcp_add_cut(content, a->bytes, a->n, max);
}

static void on_read(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    char uri[BUNDLE_NAME_MAX * 3 + 100];
    if (a->refusal || r->over) {
        mcp_tool_refused(r, a);
        mcp_release(r);
        return;
    }
    json_t *content = json_array();
    const char *path = mcp_text(r->arguments, "path");
    add_bytes(r, content, a);
    mcp_uri(uri, sizeof uri, "sessions", r->target, "files",
            strncmp(path, "/sandbox/", 9) == 0 ? path + 9 : path);
    mcp_add_link(r, content, uri, path, NULL, "the whole file");
    mcp_tool_answer(r, content, NULL, false);
    mcp_release(r);
}

static void read_in(struct mcp_request *r, const char *id)
{
    scoped(buf) path = { 0 };
    struct err e;
    if (file_path(r, id, &path, &e) == 0)
        mcp_call(r, METHOD_GET, buf_str(&path), NULL, NULL, on_read);
    else
        mcp_tool_fail(r, "%s", e.text);
}

static void read_file(struct mcp_request *r)
{
    mcp_with_sandbox(r, NULL, false, read_in);
}

static const struct api_field write_input[] = {
    { "session", FIELD_STRING, .max = 64,
      .help = "id of a session; that of run_cell by default, and a new one if there is none" },
    { "path", FIELD_STRING, .required = true, .min = 1, .max = BUNDLE_NAME_MAX,
      .help = "the file, relative to /sandbox; its directories are made" },
    { "content", FIELD_DATA, .required = true, .help = "the whole content" },
    { "encoding", FIELD_STRING, .one_of = content_encodings,
      .help = "of content; utf-8 by default" },
    { 0 },
};
static const struct api_field write_output[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "path", FIELD_STRING, ALWAYS, .help = "relative to /sandbox" },
    { "size", FIELD_INT, ALWAYS, .help = "bytes that were written" },
    { 0 },
};

static void on_written(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    const char *path = mcp_text(a->json, "path");
    const json_t *size = json_object_get(a->json, "size");
    char text[BUNDLE_NAME_MAX + 100];
    if (a->refusal || !path) {
        mcp_tool_refused(r, a);
    } else {
        (void)snprintf(text, sizeof text, "wrote %lld bytes to %s in session %s",
                       (long long)json_integer_value(size), path, r->target);
        answer_text(r, text,
                    json_pack("{s:s, s:s, s:O}", "session", r->target, "path", path, "size", size));
    }
    mcp_release(r);
}

static void write_in(struct mcp_request *r, const char *id)
{
    scoped(buf) path = { 0 };
    struct err e;
    struct inner_request q = {
        .method = METHOD_PUT, .surface = "mcp", .on_answer = on_written, .context = r
    };
    if (content_decode(json_object_get(r->arguments, "content"), mcp_text(r->arguments, "encoding"),
                       &q.bytes, &e) ||
        file_path(r, id, &path, &e)) {
        buf_done(&q.bytes);
        mcp_tool_fail(r, "content: %s", e.text);
        return;
    }
    q.path = buf_str(&path);
    r->references++;
    inner_call(r->mcp->api, mcp_who(r), &q);
}

static void write_file(struct mcp_request *r)
{
    mcp_with_sandbox(r, NULL, true, write_in);
}

/* ---- the life of a session ---- */

static const struct api_field fork_input[] = {
    { "session", FIELD_STRING, .max = 64, .help = "id of a session; that of run_cell by default" },
    { "count", FIELD_INT, .min = 1, .max = FORKS_SHOWN, .help = "number of copies; 1 by default" },
    { 0 },
};
static const struct api_field fork_output[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the original" },
    { "copies", FIELD_STRINGS, ALWAYS, .help = "ids of the copies: give one as `session`" },
    { 0 },
};

static void on_forked(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    const json_t *sessions = json_object_get(a->json, "sessions");
    scoped(buf) text = { 0 };
    struct err e;
    json_t *ids = json_array();
    (void)!buf_addf(&text, &e, "copies of session %s, with its variables and files:\n", r->target);
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        const char *id = mcp_text(json_array_get(sessions, i), "id");
        (void)json_array_append_new(ids, json_string(id));
        (void)!buf_addf(&text, &e, "%s\n", id);
    }
    if (a->refusal) {
        json_decref(ids);
        mcp_tool_refused(r, a);
    } else {
        answer_text(r, buf_str(&text),
                    json_pack("{s:s, s:o}", "session", r->target, "copies", ids));
    }
    mcp_release(r);
}

static void post_to(struct mcp_request *r, const char *id, const char *verb, const char *argument,
                    void (*on_answer)(void *, const struct inner_answer *))
{
    char path[96];
    json_t *body = json_object();
    (void)json_object_set(body, argument, json_object_get(r->arguments, argument));
    (void)snprintf(path, sizeof path, "/v1/sessions/%s/%s", id, verb);
    mcp_call(r, METHOD_POST, path, NULL, body, on_answer);
}

static void fork_in(struct mcp_request *r, const char *id)
{
    post_to(r, id, "fork", "count", on_forked);
}

static void fork_session(struct mcp_request *r)
{
    mcp_with_sandbox(r, NULL, false, fork_in);
}

static const struct api_field undo_input[] = {
    { "session", FIELD_STRING, .max = 64, .help = "id of a session; that of run_cell by default" },
    { "cells", FIELD_INT, .min = 1, .max = 3, .help = "number of cells to go back; 1 by default" },
    { 0 },
};
static const struct api_field session_output[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "state", FIELD_STRING, ALWAYS, .help = "its state" },
    { 0 },
};

static void on_undone(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    char text[128];
    if (a->refusal) {
        mcp_tool_refused(r, a);
    } else {
        (void)snprintf(text, sizeof text,
                       "session %s has the variables and files from before the last cells again",
                       r->target);
        answer_text(r, text, json_pack("{s:s, s:s}", "session", r->target, "state", "idle"));
    }
    mcp_release(r);
}

static void undo_in(struct mcp_request *r, const char *id)
{
    post_to(r, id, "undo", "cells", on_undone);
}

static void undo(struct mcp_request *r)
{
    mcp_with_sandbox(r, NULL, false, undo_in);
}

static const struct api_field end_input[] = {
    { "session", FIELD_STRING, .max = 64, .help = "id of a session; that of run_cell by default" },
    { 0 },
};

static void on_ended(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    char text[96];
    if (a->refusal) {
        mcp_tool_refused(r, a);
    } else {
        (void)snprintf(text, sizeof text, "session %s is over", r->target);
        answer_text(r, text, json_pack("{s:s, s:s}", "session", r->target, "state", "ended"));
    }
    mcp_release(r);
}

static void end_in(struct mcp_request *r, const char *id)
{
    char path[96];
    (void)snprintf(path, sizeof path, "/v1/sessions/%s", id);
    mcp_call(r, METHOD_DELETE, path, NULL, NULL, on_ended);
}

static void end_session(struct mcp_request *r)
{
    mcp_with_sandbox(r, NULL, false, end_in);
}

/* ---- languages, errors ---- */

static const struct api_field no_input[] = { { 0 } };
static const struct api_field language_row[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "for `language`" },
    { "version", FIELD_STRING, OR_NULL, .help = "of its interpreter or compiler" },
    { "sessions", FIELD_BOOL, ALWAYS, .help = "true: run_cell has it" },
    { 0 },
};
static const struct api_field languages_output[] = {
    { "languages", FIELD_OBJECTS, ALWAYS, .fields = language_row, .help = "that can run here" },
    { 0 },
};

static void list_languages(struct mcp_request *r)
{
    scoped(buf) text = { 0 };
    struct err e;
    json_t *rows = json_array();
    for (const struct language *const *l = languages; *l; l++) {
        const char *version = engine_version(r->mcp->api->engine, *l);
        if (!engine_may_run(r->mcp->api->engine, *l))
            continue;
        (void)json_array_append_new(rows,
                                    json_pack("{s:s, s:s?, s:b}", "name", (*l)->name, "version",
                                              version, "sessions", (*l)->session != NULL));
        (void)!buf_addf(&text, &e, "%s %s%s\n", (*l)->name, version ? version : "",
                        (*l)->session ? " (also run_cell)" : "");
    }
    answer_text(r, buf_str(&text), json_pack("{s:o}", "languages", rows));
}

static const struct api_field explain_input[] = {
    { "error", FIELD_DATA, .required = true, .help = "the error message, with its traceback" },
    { "language", FIELD_STRING, .max = 64, .help = "inferred from the message if absent" },
    { "code", FIELD_STRING, .help = "the program, for excerpts" },
    { 0 },
};
static const struct api_field explain_output[] = {
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = mcp_diagnosis,
      .help = "cause, place and suggestions; null: none found" },
    { 0 },
};

static void on_explained(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    const json_t *diagnosis = json_object_get(a->json, "diagnosis");
    scoped(buf) text = { 0 };
    if (a->refusal) {
        mcp_tool_refused(r, a);
    } else {
        mcp_add_diagnosis(&text, diagnosis);
        answer_text(r, text.len ? buf_str(&text) : "no error was found in this text",
                    json_pack("{s:O}", "diagnosis", diagnosis));
    }
    mcp_release(r);
}

static void explain_error(struct mcp_request *r)
{
    json_t *body = json_pack("{s:O}", "stderr", json_object_get(r->arguments, "error"));
    (void)json_object_set(body, "language", json_object_get(r->arguments, "language"));
    (void)json_object_set(body, "code", json_object_get(r->arguments, "code"));
    mcp_call(r, METHOD_POST, "/v1/diagnoses", NULL, body, on_explained);
}

/* ---- the table ---- */

const struct mcp_tool mcp_tools[] = {
    { "run_code", "Run a program",
      "Run one program in a sealed jar and return its output. Nothing is kept between calls; use "
      "run_cell to keep variables. There is no network unless `network` names hosts.",
      mcp_run_input, mcp_run_output, .open_world = true, .call = mcp_run_code },
    { "run_cell", "Run a cell in a session",
      "Run code in a session that keeps variables, imports and files from call to call, like a "
      "cell of a notebook. Without `session` the session of this conversation is used, and begins "
      "with the first call. Plots are returned as images; the value of the last expression is "
      "returned too.",
      mcp_cell_input, mcp_run_output, .open_world = true, .call = mcp_run_cell },
    { "list_files", "List files", "List the files of a session, in /sandbox.", list_input,
      list_output, .reads_only = true, .is_idempotent = true, .call = list_files },
    { "read_file", "Read a file",
      "Read a file of a session. Images are returned as images; a long text is cut in the middle.",
      read_input, NULL, .reads_only = true, .is_idempotent = true, .call = read_file },
    { "write_file", "Write a file", "Write a file of a session, in place of an earlier one.",
      write_input, write_output, .destroys = true, .is_idempotent = true, .call = write_file },
    { "fork_session", "Copy a session",
      "Make copies of a session with all its variables and files, to try several ways at once.",
      fork_input, fork_output, .call = fork_session },
    { "undo", "Undo cells",
      "Take a session back to its state before the last cells: variables and files.", undo_input,
      session_output, .destroys = true, .call = undo },
    { "end_session", "End a session", "End a session; its variables and files are lost.", end_input,
      session_output, .destroys = true, .is_idempotent = true, .call = end_session },
    { "list_languages", "List languages", "List the languages that can run here.", no_input,
      languages_output, .reads_only = true, .is_idempotent = true, .call = list_languages },
    { "explain_error", "Explain an error",
      "Explain an error message or traceback: its cause, its place and a suggested fix.",
      explain_input, explain_output, .reads_only = true, .is_idempotent = true,
      .call = explain_error },
    { 0 },
};

static json_t *tool_object(const struct mcp_request *r, const struct mcp_tool *t)
{
    json_t *o = json_pack("{s:s, s:s, s:o, s:{s:s, s:b, s:b, s:b, s:b}}", "name", t->name,
                          "description", t->description, "inputSchema",
                          openapi_fields(t->input, true), "annotations", "title", t->title,
                          "readOnlyHint", t->reads_only, "destructiveHint", t->destroys,
                          "idempotentHint", t->is_idempotent, "openWorldHint", t->open_world);
    if (r->client.revision < MCP_2025_06_18)
        return o;
    json_put(o, "title", json_string(t->title));
    if (t->output)
        json_put(o, "outputSchema", openapi_fields(t->output, false));
    return o;
}

void mcp_tools_list(struct mcp_request *r)
{
    json_t *list = json_array();
    if (json_object_get(r->params, "cursor")) {
        json_decref(list);
        mcp_error(r, mcp_is_stateless(r) ? 400 : 200, MCP_BAD_PARAMS,
                  "this cursor is not known: all tools are on the first page");
        return;
    }
    for (const struct mcp_tool *t = mcp_tools; t->name; t++)
        (void)json_array_append_new(list, tool_object(r, t));
    mcp_answer_list(r, json_pack("{s:o}", "tools", list), 3600000);
}

void mcp_tools_call(struct mcp_request *r)
{
    const char *name = mcp_text(r->params, "name");
    char field[128] = "";
    struct err e = { 0 };
    const struct mcp_tool *t = mcp_tools;
    while (t->name && (!name || strcmp(t->name, name) != 0))
        t++;
    if (!t->name) {
        mcp_error(r, mcp_is_stateless(r) ? 400 : 200, MCP_BAD_PARAMS,
                  "there is no tool '%s': tools/list has all tools", QUOTED(name ? name : ""));
        return;
    }
    r->tool = t;
    r->arguments = json_object_get(r->params, "arguments");
    if (!r->arguments) {
        r->arguments = json_object();
        (void)json_object_set_new(r->params, "arguments", r->arguments);
    }
    if (mcp_approval_resumed(r))
        return;
    if (!json_is_object(r->arguments))
        mcp_tool_fail(r, "arguments is not an object: the schema of %s has its fields", t->name);
    else if (api_validate(r->arguments, t->input, false, field, sizeof field, &e))
        mcp_tool_fail(r, "%s: %s", t->name, ERR_SHOWN(&e));
    else {
        api_drop_nulls(r->arguments, t->input);
        t->call(r);
    }
}
