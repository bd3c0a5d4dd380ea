#include "api/kernel/inner.h"

#include <stdlib.h>
#include <string.h>

#include "api/kernel/auth.h"
#include "api/kernel/core.h"
#include "api/kernel/query_fields.h"
#include "api/kernel/reply.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

struct inner {
    struct api_call call; /* first: the end of the call frees all of it */
    struct http_exchange exchange;
    struct inner_request request;
    char *path, *query;
    struct buf streamed;
    bool cut;
    /* a large body */
    uv_work_t work;
    struct settings *settings; /* a copy: the loop may change them */
    int workspace_fd;
    struct err err;
    char field[128];
};

/* ---- answers ---- */

static void inner_end(struct api_call *c, const struct inner_answer *a)
{
    struct inner *in = c->inner;
    in->request.on_answer(in->request.context, a);
    buf_done(&in->streamed);
    buf_done(&in->exchange.request.body);
    free(in->path);
    free(in->query);
    free(in->settings);
    call_free(c);
}

void inner_reply(struct api_call *c, int status, json_t *json)
{
    inner_end(c, &(struct inner_answer){ .status = status, .json = json });
    json_decref(json);
}

void inner_reply_bytes(struct api_call *c, int status, const char *bytes, size_t n)
{
    inner_end(c, &(struct inner_answer){ .status = status, .bytes = bytes, .n = n });
}

void inner_fail(struct api_call *c, const struct err *e, const char *field)
{
    inner_end(c, &(struct inner_answer){
                     .status = err_http_status(e->code), .refusal = e, .field = field });
}

void inner_stream_write(struct api_call *c, const void *bytes, size_t n)
{
    struct inner *in = c->inner;
    struct err e;
    size_t room = INNER_BYTES_MAX - in->streamed.len;
    in->cut = in->cut || n > room;
    if (buf_add(&in->streamed, bytes, n > room ? room : n, &e))
        in->cut = true;
}

void inner_stream_end(struct api_call *c)
{
    const struct inner *in = c->inner;
    inner_end(c, &(struct inner_answer){ .status = 200,
                                         .bytes = buf_str(&in->streamed),
                                         .n = in->streamed.len,
                                         .cut = in->cut });
}

void inner_tell_run(struct api_call *c, struct run *run)
{
    const struct inner *in = c->inner;
    if (in && in->request.on_run)
        in->request.on_run(in->request.context, run);
}

const char *inner_surface(const struct api_call *c, const char *otherwise)
{
    return c->inner && c->inner->request.surface ? c->inner->request.surface : otherwise;
}

/* ---- calls ---- */

int inner_query_add(struct buf *query, const char *name, const char *value, struct err *e)
{
    if (!value)
        return 0;
    if (buf_addf(query, e, "%s%s=", query->len ? "&" : "", name))
        return -1;
    for (const char *at = value; *at; at++) {
        bool plain = (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= 'a' && *at <= 'z') || strchr("-._~", *at);
        if (plain ? buf_add(query, at, 1, e) : buf_addf(query, e, "%%%02X", (unsigned char)*at))
            return -1;
    }
    return 0;
}

static int take_body(struct api_call *c, char *field, size_t size, struct err *e)
{
    const struct api_route *route = c->route;
    if (!route->body || (route->flags & ROUTE_RAW))
        return 0;
    if (!c->body)
        c->body = json_object();
    if (!c->body)
        return err_no_memory(e, "a request");
    if (api_validate(c->body, route->body, route->flags & ROUTE_LENIENT, field, size, e))
        return -1;
    api_drop_nulls(c->body, route->body);
    return 0;
}

static void large_work(uv_work_t *work)
{
    struct inner *in = work->data;
    struct api_call *c = &in->call;
    const struct api here = { .settings = in->settings,
                              .workspace_fd = in->workspace_fd,
                              .output_dir_fd = -1 };
    if (take_body(c, in->field, sizeof in->field, &in->err) == 0 && c->route->prepare)
        (void)!c->route->prepare(c, &here, &in->exchange.request.body, in->field, sizeof in->field,
                                 &in->err);
}

static void large_done(uv_work_t *work, int status)
{
    struct inner *in = work->data;
    struct api_call *c = &in->call;
    (void)status;
    if (in->err.code != ERR_NONE)
        api_fail(c, &in->err, in->field[0] ? in->field : NULL);
    else
        c->route->handle(c);
}

static bool large_begin(struct inner *in)
{
    struct api *api = in->call.api;
    in->settings = malloc(sizeof *in->settings);
    if (!in->settings)
        return false;
    *in->settings = *api->settings;
    in->workspace_fd = api->workspace_fd;
    in->work.data = in;
    return uv_queue_work(api->loop, &in->work, large_work, large_done) == 0;
}

static int find_route(struct inner *in, struct err *e)
{
    struct api_call *c = &in->call;
    const struct http_request *q = &in->exchange.request;
    struct route_match m = router_match(c->api->core->router, q->method, q->path, c->params);
    c->route = m.route;
    if (!m.route)
        return err_set(e, ERR_NOT_FOUND, 0, "there is no path '%s'", QUOTED(q->path));
    return auth_allows(&c->who, m.route->scope, e);
}

static int check(struct inner *in, struct err *e)
{
    const struct http_request *q = &in->exchange.request;
    struct api_call *c = &in->call;
    if (find_route(in, e))
        return -1;
    if ((q->query[0] != '\0' || c->route->query) &&
        query_check(q, c->route->query, false, in->field, sizeof in->field, e))
        return -1;
    return 0;
}

static struct inner *inner_new(struct api *api, const struct api_identity *who,
                               const struct inner_request *q)
{
    struct inner *in = calloc(1, sizeof *in);
    char *path = strdup(q->path), *query = strdup(q->query ? q->query : "");
    if (!in || !path || !query) {
        free(in);
        free(path);
        free(query);
        return NULL;
    }
    in->request = *q;
    in->path = path;
    in->query = query;
    in->exchange.request = (struct http_request){ .method = q->method,
                                                  .target = path,
                                                  .path = path,
                                                  .query = query,
                                                  .body = q->bytes,
                                                  .has_body = q->bytes.len > 0,
                                                  .peer = "a door" };
    in->call = (struct api_call){ .api = api,
                                  .inner = in,
                                  .http = &in->exchange,
                                  .body = q->body,
                                  .who = *who,
                                  .began_us = clock_us() };
    if (who->key)
        in->call.who.key = in->call.who.name + (who->key - who->name);
    return in;
}

void inner_call(struct api *api, const struct api_identity *who, struct inner_request *q)
{
    struct err e = { 0 };
    struct inner *in = inner_new(api, who, q);
    if (!in) {
        (void)!err_no_memory(&e, "a request");
        json_decref(q->body);
        buf_done(&q->bytes);
        q->on_answer(q->context, &(struct inner_answer){ .status = 500, .refusal = &e });
        return;
    }
    if (check(in, &e)) {
        api_fail(&in->call, &e, in->field);
        return;
    }
    if (q->large && large_begin(in))
        return;
    if (take_body(&in->call, in->field, sizeof in->field, &e))
        api_fail(&in->call, &e, in->field);
    else
        in->call.route->handle(&in->call);
}
