/* api/kernel/api.h — routes, who may call them, JSON in and JSON out. Each surface is a file with a const table of routes.
 * Runs in: keeper.
 *
 * Invariants
 * A1 A body reaches a handler only after it was validated against its route's table of fields; the same table makes the
 *    OpenAPI document.
 * A2 A call ends exactly once (api_reply*, api_fail, api_stream_end); it outlives its client: when that went away,
 *    answering does nothing.
 * A3 No route answers 500 for something a caller did. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "engine/engine.h"
#include "http/http.h"
#include "settings/settings.h"
#include "store/key_rows.h"
#include "store/store.h"

struct api;

/* ---- fields ---- */
enum field_type {
    FIELD_STRING, /* min, max: bytes; one_of: accepted words, or NULL; holds no NUL */
    FIELD_DATA,   /* a string that may hold NUL: read it with json_string_length() */
    FIELD_BOOL,
    FIELD_INT,        /* min, max */
    FIELD_NUMBER,     /* min, max */
    FIELD_STRINGS,    /* array of strings; max: how many */
    FIELD_STRING_MAP, /* object of strings; max: how many */
    FIELD_OBJECT,     /* `fields` */
    FIELD_OBJECTS,    /* array of objects; `fields`; max: how many */
    FIELD_LIMITS,     /* rows of limit_defs: a number, or text such as "64m" */
    FIELD_FILES, /* name -> text or {content, encoding, executable}; or [{name, content, ...}] */
    FIELD_LIMIT_VALUES, /* of answers: every row of limit_defs, as a number */
    FIELD_ANY,          /* any JSON; bounded like everything by the body's size and depth */
};
struct api_field {
    const char *name; /* NULL ends a table */
    enum field_type type;
    bool required;
    double min, max; /* both 0: not bounded but by the body */
    const char *const *one_of;
    const struct api_field *fields;
    const char *help;
    const char *
        also; /* what others call it: "lang,lang_id"; "timeout=limits.wall_ms": what is meant is there */
    const char
        *hidden; /* rows of `fields` that are accepted here, but not offered: "wait,stream" */
    const char *elsewhere; /* what people look for among `fields` and is not: "expected=inputs" */
    bool nullable;         /* of answers: it is there, and may be null */
};
/* Checks an object against a table. Unknown fields are refused, naming the nearest known one, unless `lenient`. The error
 * names the field ("limits.memory", "files[2].name"), the value and what is accepted; ret_field (size >= 128) gets the path. */
[[nodiscard]] int api_validate(const json_t *object, const struct api_field *fields, bool lenient,
                               char *ret_field, size_t field_size, struct err *e);
/* Takes the optional fields out that are null, which api_validate() lets pass as absent. */
void api_drop_nulls(json_t *object, const struct api_field *fields);

/* The defaults with what the object sets, if it is not NULL. In JSON a number of `wall_ms` is milliseconds, as the key
 * says; text has its unit ("2s"). Whatever is no whole number within [the row's min, max] is refused, naming both. */
[[nodiscard]] int api_limits(const json_t *object, const struct limits *defaults,
                             const struct limits *max, struct limits *ret, char *ret_field,
                             size_t field_size, struct err *e);

/* ---- calls ---- */
struct api_identity {
    char name[KEY_NAME_MAX + 16]; /* "key:NAME", "unix:UID", "anonymous" */
    const char *key;              /* the key's name, inside `name` of the call's own; or NULL */
    scope_set scopes;
    uint32_t max_runs;
};

enum error_style {
    STYLE_V1,     /* {"error":{"code","message","field"}} */
    STYLE_DETAIL, /* {"detail": message} */
    STYLE_NEMO,   /* {"process_status":"error","stdout":"","stderr":message} */
};

enum { API_PARAMS_MAX = 2, API_PARAM_SIZE = 1100 };

struct api_call {
    struct api *api;
    struct http_exchange *http; /* NULL once the client is gone */
    const struct api_route *route;
    char params[API_PARAMS_MAX][API_PARAM_SIZE]; /* what stood for {…} in the path, in order */
    json_t *body; /* an object, validated; NULL when the route takes none */
    struct api_identity who;
    void *user; /* the handler's */
    void (*on_gone)(
        struct api_call *c); /* the client went away; the call goes on until it is ended */
    void (*on_drain)(struct api_call *c);
    void (*on_half_close)(struct api_call *c);
    uint64_t began_us; /* for the log */
};

struct api_route {
    enum http_method method; /* of a route that takes GET, HEAD works too */
    const char *path; /* "/v1/runs/{id}/files/{name...}": {name...} takes the rest, slashes too */
    int scope;        /* enum scope, or SCOPE_NONE */
    enum error_style style;
    const struct api_field *body; /* NULL: no body is read */
    const struct api_field
        *query; /* for the documentation, and unknown ones are refused; NULL: none */
    unsigned flags;
    void (*handle)(struct api_call *c);
    const char *summary;
};
enum { SCOPE_NONE = -1, SCOPE_ANY = -2 }; /* no key is needed; any key will do */
enum {
    ROUTE_BODY_OPTIONAL = 1, /* no body is an empty object */
    ROUTE_LENIENT = 2,       /* unknown fields are ignored */
    ROUTE_RAW = 4, /* the handler reads http->request.body itself, and checks its content type */
};

/* Each surface's table; ends with a row whose path is NULL. */
extern const struct api_route runs_routes[], batch_routes[], meta_routes[], key_routes[],
    nemo_routes[], artifact_routes[], approval_routes[], diagnosis_routes[];

/* Ends the call. The JSON's reference is taken. */
void api_reply(struct api_call *c, int status, json_t *body);
void api_reply_text(struct api_call *c, int status, const char *content_type, const char *bytes,
                    size_t n);
/* In the style of the route, with the status of the error's code. `field`: NULL or the field's name. 503 carries
 * Retry-After. Errors that are the host's fault are logged. */
void api_fail(struct api_call *c, const struct err *e, const char *field);
void api_fail_no_memory(struct api_call *c);
/* An answer in pieces. */
void api_stream_begin(struct api_call *c, const char *content_type);
void api_stream_write(struct api_call *c, const void *bytes, size_t n);
size_t api_stream_queued(const struct api_call *c);
void api_stream_end(struct api_call *c); /* ends the call */

/* A text of the body; NULL when absent. Borrowed. */
static inline const char *api_text(const struct api_call *c, const char *key)
{
    return json_string_value(json_object_get(c->body, key));
}
/* A value of the query; ret NULL when absent. */
[[nodiscard]] int api_query(const struct api_call *c, const char *name, char *out, size_t size,
                            const char **ret, struct err *e);
/* A number of the query within [min, max]; absent: *value stays as it is. */
[[nodiscard]] int api_query_number(const struct api_call *c, const char *name, int64_t min,
                                   int64_t max, int64_t *value, struct err *e);
/* A moment in a query, as base/moment.h reads them. */
[[nodiscard]] int api_moment(const char *name, const char *text, int64_t now_ms, int64_t *ret_ms,
                             struct err *e);

/* ---- what handlers reach ---- */
struct api {
    /* who opens an api fills these in: */
    uv_loop_t *loop;
    struct engine *engine;
    struct store *store;
    struct http_server *http;
    const struct settings *settings;
    const char *data_dir; /* of the store; the keys are read from there at the start */
    int output_dir_fd;    /* where large outputs lie */
    int workspace_fd;     /* the directory that programs of /execute share; -1: none */
    uid_t owner_uid; /* who may use the unix socket without a key, besides root and ourselves */
    /* The numeric address of each listener, by its index; "" for a unix socket. */
    char listeners[SETTINGS_LISTEN_MAX][64];
    bool draining; /* set when the service begins to end */
    /* and leaves these zero: */
    struct api_core *core;       /* api.c: router, documents */
    struct api_keys *keys;       /* key_store.c */
    struct approvals *approvals; /* approvals.c: what waits, and the rules */
    struct group *groups;        /* group.c: batches and comparisons at work */
    int64_t started_ms;          /* Unix time */
};

/* The keys are read here, from the disk; nothing later waits for it. */
[[nodiscard]] int api_open(struct api *api, struct err *e);
void api_close(struct api *api);
/* Another process changed the keys. */
void api_reload_keys(struct api *api);

/* For http_server_new(), whose context is the api. */
extern const struct http_handlers api_http_handlers;
extern const struct http_header api_every_header[];
extern const size_t api_n_every_header;
