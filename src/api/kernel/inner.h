/* api/kernel/inner.h — a call of a route of /v1 by a door, in the name of the client of the door.
 * Runs in: keeper.
 *
 * Invariants
 * INNER-1 An inner call passes the checks that a request passes: scope, query, fields (API-1).
 * INNER-2 on_answer() is called exactly once, maybe before inner_call() returns. Every on_run()
 *         comes before it. */
#pragma once

#include "api/kernel/api.h"

/* Bytes of a stream that an answer holds. */
enum { INNER_BYTES_MAX = 16 << 20 };

struct inner_answer {
    int status;
    json_t *json;              /* borrowed; NULL: none */
    const char *bytes;         /* of an answer that is not JSON; borrowed; NULL: none */
    size_t n;                  /* number of bytes */
    bool cut;                  /* there were more than INNER_BYTES_MAX */
    const struct err *refusal; /* NULL unless the status is 4xx or 5xx */
    const char *field;         /* of the request; NULL: none */
};

struct inner_request {
    enum http_method method;
    const char *path;    /* not escaped; copied */
    const char *query;   /* escaped: inner_query_add(); NULL: none; copied */
    json_t *body;        /* taken over; NULL: none */
    struct buf bytes;    /* of a ROUTE_RAW; taken over */
    const char *surface; /* of the runs that it submits, for the history; a literal */
    bool large;          /* the body is made into a run in a thread (API-9) */
    void (*on_answer)(void *context, const struct inner_answer *a);
    /* NULL, or called for the run that the route has submitted. */
    void (*on_run)(void *context, struct run *run);
    void *context;
};

/* Routes that add headers to their answers cannot be called. */
void inner_call(struct api *api, const struct api_identity *who, struct inner_request *q);

/* Adds "name=value" to a query; NULL as the value adds nothing. */
[[nodiscard]] int inner_query_add(struct buf *query, const char *name, const char *value,
                                  struct err *e);

/* ---- for reply.c and the routes that submit runs ---- */
void inner_reply(struct api_call *c, int status, json_t *json); /* takes over the reference */
void inner_reply_bytes(struct api_call *c, int status, const char *bytes, size_t n);
void inner_fail(struct api_call *c, const struct err *e, const char *field);
void inner_stream_write(struct api_call *c, const void *bytes, size_t n);
void inner_stream_end(struct api_call *c);
/* Nothing if the call is not an inner one. */
void inner_tell_run(struct api_call *c, struct run *run);
/* The surface of the runs of a call. */
const char *inner_surface(const struct api_call *c, const char *otherwise);
