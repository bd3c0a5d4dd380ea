/* Sessions: an id, and one request for each call. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "library/library.h"

enum { COPIES_MAX = 100 };

struct belljar_session {
    struct belljar *handle;
    char *id;
};

static struct belljar_session *session_new(struct belljar *b, const char *id)
{
    struct belljar_session *s = calloc(1, sizeof *s);
    char *copy = text_copy(id);
    if (!s || !copy) {
        free(s);
        free(copy);
        return NULL;
    }
    library_hold(b);
    *s = (struct belljar_session){ b, copy };
    return s;
}

void belljar_session_free(struct belljar_session *session)
{
    if (!session)
        return;
    library_release(session->handle);
    free(session->id);
    free(session);
}

const char *belljar_session_id(const struct belljar_session *session)
{
    return session->id;
}

/* The session that an answer is about. Takes the answer over. */
static int from_answer(struct belljar *b, json_t *answer, struct belljar_session **ret,
                       struct belljar_error **error)
{
    const char *id = json_string_value(json_object_get(answer, "id"));
    struct belljar_session *s = id ? session_new(b, id) : NULL;
    bool known = id != NULL;
    json_decref(answer);
    if (!known)
        return library_fail(error, BELLJAR_ERROR_PROTOCOL, "the service's session has no id");
    if (!s)
        return library_fail_memory(error);
    *ret = s;
    return 0;
}

int belljar_session_open(struct belljar *handle, const struct belljar_session_options *options,
                         struct belljar_session **ret, struct belljar_error **error)
{
    json_t *body = NULL, *answer = NULL;
    if (library_session_json(options, &body, error) ||
        library_post(handle, "/v1/sessions", body, &answer, error))
        return -1;
    return from_answer(handle, answer, ret, error);
}

/* ---- requests ---- */

/* "/v1/sessions/ID" and, escaped, the rest. */
static int make_path(struct buf *path, const char *id, const char *rest,
                     struct belljar_error **error)
{
    struct err e = { 0 };
    if (buf_addf(path, &e, "/v1/sessions/") || client_add_escaped(path, id, &e) ||
        client_add_escaped(path, rest, &e))
        return library_fail_err(error, &e);
    return 0;
}

static int ask(struct belljar *b, const char *method, const char *id, const char *rest,
               struct buf *ret, struct belljar_error **error)
{
    scoped(buf) path = { 0 };
    if (make_path(&path, id, rest, error))
        return -1;
    const struct client_request q = { .method = method,
                                      .path = buf_str(&path),
                                      .body_max = LIBRARY_ANSWER_MAX };
    return library_ask(b, &q, ret, error);
}

static int post(struct belljar_session *s, const char *rest, json_t *body, json_t **ret,
                struct belljar_error **error)
{
    scoped(buf) path = { 0 };
    if (make_path(&path, s->id, rest, error)) {
        json_decref(body);
        return -1;
    }
    return library_post(s->handle, buf_str(&path), body, ret, error);
}

int belljar_session_attach(struct belljar *handle, const char *id, struct belljar_session **ret,
                           struct belljar_error **error)
{
    scoped(buf) body = { 0 };
    if (!*id || strchr(id, '/'))
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST, "'%s' is not the id of a session",
                            QUOTED(id));
    if (ask(handle, "GET", id, "", &body, error))
        return -1;
    return from_answer(handle, json_loadb(buf_str(&body), body.len, JSON_ALLOW_NUL, NULL), ret,
                       error);
}

int belljar_session_close(struct belljar_session *session, struct belljar_error **error)
{
    if (!session)
        return 0;
    int rc = ask(session->handle, "DELETE", session->id, "", NULL, error);
    belljar_session_free(session);
    return rc;
}

/* ---- cells ---- */

int belljar_session_start(struct belljar_session *session, const struct belljar_cell *cell,
                          struct belljar_run **ret, struct belljar_error **error)
{
    json_t *body = NULL;
    return library_cell_json(cell, &body, error) ||
                   library_start(session->handle, session->id, body, ret, error)
               ? -1
               : 0;
}

int belljar_session_exec(struct belljar_session *session, const char *code,
                         struct belljar_result **ret, struct belljar_error **error)
{
    const struct belljar_cell cell = { .size = sizeof cell, .code = code };
    struct belljar_run *run;
    return belljar_session_start(session, &cell, &run, error) ? -1
                                                              : library_finish(run, ret, error);
}

int belljar_session_interrupt(struct belljar_session *session, struct belljar_error **error)
{
    return post(session, "/interrupt", json_object(), NULL, error);
}

int belljar_session_restart(struct belljar_session *session, struct belljar_error **error)
{
    return post(session, "/restart", json_object(), NULL, error);
}

/* ---- states ---- */

static void free_all(struct belljar_session **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        belljar_session_free(list[i]);
}

int belljar_session_fork(struct belljar_session *session, unsigned count,
                         struct belljar_session **ret, struct belljar_error **error)
{
    struct belljar_session *made[COPIES_MAX];
    size_t n = 0;
    json_t *answer = NULL;
    if (count < 1 || count > COPIES_MAX)
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "%u copies of a session cannot be made: 1 to %d are accepted", count,
                            COPIES_MAX);
    if (post(session, "/fork", json_pack("{s:i}", "count", (int)count), &answer, error))
        return -1;
    const json_t *list = json_object_get(answer, "sessions");
    for (; n < count; n++) {
        const json_t *copy = json_array_get(list, n);
        const char *id = json_string_value(json_object_get(copy, "id"));
        made[n] = id ? session_new(session->handle, id) : NULL;
        if (!made[n])
            break;
    }
    json_decref(answer);
    if (n < count) {
        free_all(made, n);
        return library_fail(error, BELLJAR_ERROR_PROTOCOL,
                            "the service's answer names %zu of %u copies", n, count);
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = made[i];
    return 0;
}

int belljar_session_undo(struct belljar_session *session, unsigned cells,
                         struct belljar_error **error)
{
    return post(session, "/undo", json_pack("{s:i}", "cells", (int)cells), NULL, error);
}

int belljar_session_checkpoint(struct belljar_session *session, const char *name,
                               struct belljar_error **error)
{
    return post(session, "/checkpoints", json_pack("{s:s}", "name", name), NULL, error);
}

int belljar_session_rollback(struct belljar_session *session, const char *name,
                             struct belljar_error **error)
{
    return post(session, "/rollback", json_pack("{s:s}", "to", name), NULL, error);
}

/* ---- files ---- */

static int file_path(struct buf *path, const struct belljar_session *s, const char *name,
                     struct belljar_error **error)
{
    struct err e = { 0 };
    if (!*name)
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST, "the file has no name");
    if (make_path(path, s->id, "/files/", error))
        return -1;
    return client_add_escaped(path, name, &e) ? library_fail_err(error, &e) : 0;
}

int belljar_session_put(struct belljar_session *session, const char *name, const void *bytes,
                        size_t len, struct belljar_error **error)
{
    scoped(buf) path = { 0 };
    if (file_path(&path, session, name, error))
        return -1;
    const struct client_request q = { .method = "PUT",
                                      .path = buf_str(&path),
                                      .bytes = bytes ? bytes : "",
                                      .n_bytes = len,
                                      .body_max = LIBRARY_ANSWER_MAX };
    return library_ask(session->handle, &q, NULL, error);
}

int belljar_session_get(struct belljar_session *session, const char *name,
                        struct belljar_bytes **ret, struct belljar_error **error)
{
    scoped(buf) path = { 0 }, body = { 0 };
    if (file_path(&path, session, name, error))
        return -1;
    const struct client_request q = { .method = "GET",
                                      .path = buf_str(&path),
                                      .body_max = LIBRARY_ANSWER_MAX };
    return library_ask(session->handle, &q, &body, error) || library_bytes(&body, ret, error) ? -1
                                                                                              : 0;
}
