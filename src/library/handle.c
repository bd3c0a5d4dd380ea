/* Handles: the address of a service and its idle connections. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "config.h"
#include "library/library.h"

enum { PATIENCE_MS = 60000 };

const char *belljar_version(void)
{
    return BELLJAR_VERSION;
}

/* ---- life ---- */

static void handle_free(struct belljar *b)
{
    free(b->address);
    free(b->key);
    client_address_done(&b->at);
    (void)pthread_mutex_destroy(&b->lock);
    free(b);
}

void library_hold(struct belljar *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->references++;
    (void)pthread_mutex_unlock(&b->lock);
}

void library_release(struct belljar *b)
{
    (void)pthread_mutex_lock(&b->lock);
    bool last = --b->references == 0;
    (void)pthread_mutex_unlock(&b->lock);
    if (last)
        handle_free(b);
}

void belljar_close(struct belljar *handle)
{
    if (!handle)
        return;
    (void)pthread_mutex_lock(&handle->lock);
    handle->closed = true;
    size_t n = handle->n_idle;
    handle->n_idle = 0;
    (void)pthread_mutex_unlock(&handle->lock);
    for (size_t i = 0; i < n; i++) /* give_back() adds none to a closed handle */
        client_done(&handle->idle[i]);
    private_host_done(&handle->service);
    library_release(handle);
}

const char *belljar_address(const struct belljar *handle)
{
    return handle->address;
}

/* ---- addresses ---- */

static int take_service(struct belljar *b, const char *service, struct belljar_error **error)
{
    struct err e = { 0 };
    return client_address_parse(service, &b->at, &e) ? library_fail_err(error, &e) : 0;
}

static int check_key(struct belljar *b, const char *key, struct belljar_error **error)
{
    struct err e = { 0 };
    if (!key)
        return 0;
    if (client_key_check(key, &e))
        return library_fail_err(error, &e);
    b->key = strdup(key);
    return b->key ? 0 : library_fail_memory(error);
}

/* The first answer shows that there is a service and that it accepts the key. */
static int check_service(struct belljar *b, struct belljar_error **error)
{
    const struct client_request q = { .method = "GET",
                                      .path = "/v1/languages",
                                      .body_max = LIBRARY_ANSWER_MAX };
    return library_ask(b, &q, NULL, error);
}

static int open_handle(struct belljar *b, const struct belljar_options *o,
                       struct belljar_error **error)
{
    b->patience_ms = o->patience_ms == 0 || o->patience_ms > INT32_MAX ? PATIENCE_MS
                                                                       : (int)o->patience_ms;
    if (check_key(b, o->key, error))
        return -1;
    if (!o->service) {
        if (private_host_start(&b->service, o, error))
            return -1;
        b->at.path = text_copy(b->service.socket_path);
    } else if (take_service(b, o->service, error)) {
        return -1;
    }
    b->address = text_copy(o->service ? o->service : b->at.path);
    if (!b->address)
        return library_fail_memory(error);
    return o->service ? check_service(b, error) : 0;
}

int belljar_open(const struct belljar_options *options, struct belljar **ret,
                 struct belljar_error **error)
{
    struct belljar_options o = { .size = sizeof o };
    if (options &&
        library_take_struct(options, &o, sizeof o, LIBRARY_END(struct belljar_options, settings),
                            "belljar_options", error))
        return -1;
    struct belljar *handle = calloc(1, sizeof *handle);
    if (!handle)
        return library_fail_memory(error);
    handle->references = 1;
    handle->service = (struct private_host)PRIVATE_HOST_INIT;
    (void)pthread_mutex_init(&handle->lock, NULL);
    if (open_handle(handle, &o, error)) {
        belljar_close(handle);
        return -1;
    }
    *ret = handle;
    return 0;
}

/* ---- connections ---- */

static struct client *take_idle(struct belljar *b, bool *ret_closed)
{
    struct client *found = NULL;
    (void)pthread_mutex_lock(&b->lock);
    while (!found && b->n_idle > 0) {
        found = b->idle[--b->n_idle];
        if (!client_reusable(found))
            client_done(&found);
    }
    *ret_closed = b->closed;
    (void)pthread_mutex_unlock(&b->lock);
    return found;
}

int library_take(struct belljar *b, struct client **ret, bool *ret_used,
                 struct belljar_error **error)
{
    bool closed;
    struct err e = { 0 };
    struct client *c = take_idle(b, &closed);
    *ret_used = c != NULL;
    if (closed)
        return library_fail(error, BELLJAR_ERROR_UNAVAILABLE, "the handle is closed");
    if (!c && client_address_connect(&b->at, b->key, &c, &e))
        return library_fail_err(error, &e);
    *ret = c;
    return 0;
}

void library_give_back(struct belljar *b, struct client *c)
{
    bool kept = false;
    if (c && client_reusable(c)) {
        (void)pthread_mutex_lock(&b->lock);
        kept = !b->closed && b->n_idle < LIBRARY_IDLE_MAX;
        if (kept)
            b->idle[b->n_idle++] = c;
        (void)pthread_mutex_unlock(&b->lock);
    }
    if (!kept)
        client_free(c);
}

int library_ask(struct belljar *b, const struct client_request *q, struct buf *ret,
                struct belljar_error **error)
{
    struct client *c = NULL;
    struct err e = { 0 };
    bool used;
    size_t len;
    if (library_take(b, &c, &used, error))
        return -1;
    if (client_ask(c, q, b->patience_ms, &e)) {
        bool again = used && !client_response(c)->began && strcmp(q->method, "GET") == 0;
        client_free(c);
        /* The service closed the idle connection at this moment. Only a question is asked again. */
        return again ? library_ask(b, q, ret, error) : library_fail_err(error, &e);
    }
    int status = client_response(c)->status;
    const char *body = client_body(c, &len);
    int rc = status / 100 != 2                        ? library_fail_answer(error, c)
             : ret && buf_add(ret, body, len, &e) < 0 ? library_fail_memory(error)
                                                      : 0;
    library_give_back(b, c);
    return rc;
}

int library_post(struct belljar *b, const char *path, json_t *body, json_t **ret,
                 struct belljar_error **error)
{
    scoped(buf) answer = { 0 };
    autofree char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (!text)
        return library_fail_memory(error);
    const struct client_request q = { .method = "POST",
                                      .path = path,
                                      .json = text,
                                      .json_len = strlen(text),
                                      .body_max = LIBRARY_ANSWER_MAX };
    if (library_ask(b, &q, &answer, error))
        return -1;
    if (!ret)
        return 0;
    *ret = json_loadb(buf_str(&answer), answer.len, JSON_ALLOW_NUL, NULL);
    return *ret ? 0
                : library_fail(error, BELLJAR_ERROR_PROTOCOL, "the answer to POST %s is not JSON",
                               path);
}

int belljar_call(struct belljar *handle, const char *method, const char *path, const char *json,
                 struct belljar_bytes **ret, struct belljar_error **error)
{
    scoped(buf) answer = { 0 };
    if (!*method || strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(method))
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "'%s' is not a method: GET, POST, PUT, PATCH and DELETE are",
                            QUOTED(method));
    if (*path != '/' || !client_is_visible(path))
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "'%s' is not a path of the service: it begins with '/', and other "
                            "bytes than visible ASCII are written as %%XX",
                            QUOTED(path));
    const struct client_request q = { .method = method,
                                      .path = path,
                                      .json = json,
                                      .json_len = json ? strlen(json) : 0,
                                      .body_max = LIBRARY_ANSWER_MAX };
    return library_ask(handle, &q, &answer, error) || library_bytes(&answer, ret, error) ? -1 : 0;
}

/* ---- bytes ---- */

struct belljar_bytes {
    struct buf buf;
};

int library_bytes(struct buf *b, struct belljar_bytes **ret, struct belljar_error **error)
{
    struct belljar_bytes *bytes = calloc(1, sizeof *bytes);
    if (!bytes)
        return library_fail_memory(error);
    bytes->buf = *b;
    *b = (struct buf){ 0 };
    *ret = bytes;
    return 0;
}

const void *belljar_bytes_data(const struct belljar_bytes *bytes, size_t *ret_len)
{
    if (ret_len)
        *ret_len = bytes->buf.len;
    return buf_str(&bytes->buf);
}

void belljar_bytes_free(struct belljar_bytes *bytes)
{
    if (!bytes)
        return;
    buf_done(&bytes->buf);
    free(bytes);
}
