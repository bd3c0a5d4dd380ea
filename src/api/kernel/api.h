/* api/kernel/api.h — routes, access to them, JSON in and JSON out. Each surface is a file with a
 * const table of routes. Runs in: keeper.
 * Implemented by the files beside it: fields.c, limit_fields.c, reply.c, query_fields.c, api.c and
 * call.c. Each section below names its file.
 *
 * Invariants
 * API-1 A body reaches a handler only after it was validated against the fields of its route. The
 *       same tables make the OpenAPI document.
 * API-2 A call ends exactly once (api_reply*, api_fail, api_stream_end). It outlives its client: if
 *       the client went away, an answer is dropped.
 * API-3 No route answers 500 because of a mistake of the caller. */
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
struct sessions; /* session/session.h */

/* ---- fields of requests and of answers (fields.c; limits: limit_fields.c) ---- */
enum field_type {
    FIELD_STRING, /* min, max: bytes; one_of: accepted words, or NULL; holds no NUL */
    FIELD_DATA,   /* a string that may hold NUL: read it with json_string_length() */
    FIELD_BOOL,
    FIELD_INT,          /* min, max */
    FIELD_NUMBER,       /* min, max */
    FIELD_STRINGS,      /* array of strings; max: their number */
    FIELD_STRING_MAP,   /* object of strings; max: their number */
    FIELD_OBJECT,       /* `fields` */
    FIELD_OBJECTS,      /* array of objects; `fields`; max: their number */
    FIELD_LIMITS,       /* rows of limit_defs: a number, or text such as "64m" */
    FIELD_FILES,        /* name -> text or {content, encoding, executable}; or [{name, ...}] */
    FIELD_NETWORK,      /* a word of `one_of`, or an object of `fields` */
    FIELD_LIMIT_VALUES, /* of answers: every row of limit_defs, as a number */
    FIELD_ANY,          /* any JSON; `fields`: a table that its description names */
};
/* A table of fields ends with a row without a name. That row may name the schema of the table in
 * the OpenAPI document: `schema`, its description `help`, and in `fields` a table whose rows can
 * occur as well. */
struct api_field {
    const char *name;
    enum field_type type;
    bool required;
    double min, max; /* both 0: bounded only by the size of the body */
    const char *const *one_of;
    const struct api_field *fields;
    const char *help;
    /* Names that callers try instead: "lang,lang_id". "timeout=limits.wall_ms" refers to a field
     * elsewhere. */
    const char *also;
    /* Rows of `fields` that are accepted here but not documented: "wait,stream" */
    const char *hidden;
    /* Fields that callers try among `fields` but that belong elsewhere: "expected=inputs" */
    const char *elsewhere;
    bool nullable; /* of answers: the value may be null */
    const char *schema;
};
/* Of fields of an answer: always present; always present and possibly null. */
#define ALWAYS                    .required = true
#define OR_NULL                   .required = true, .nullable = true
/* Makes a list for `one_of` from an X-macro table: { RUN_STATE_TABLE(FIELD_WORD) NULL } */
#define FIELD_WORD(id, word, ...) word,

/* Checks an object against a table. An unknown field is an error that names the nearest known one,
 * unless `lenient`. An error names the field ("limits.memory", "files[2].name"), its value and the
 * accepted values; ret_field (size >= 128) gets the path. */
[[nodiscard]] int api_validate(const json_t *object, const struct api_field *fields, bool lenient,
                               char *ret_field, size_t field_size, struct err *e);
/* Removes optional fields that are null. api_validate() accepts them as absent. */
void api_drop_nulls(json_t *object, const struct api_field *fields);

/* The defaults, overridden by the object if it is not NULL. A number of `wall_ms` is milliseconds,
 * as the key says; text has its unit ("2s"). A value that is not a whole number within [min of the
 * row, max] is an error that names both bounds. CPU time follows wall time: limits_raise_cpu(). */
[[nodiscard]] int api_limits(const json_t *object, const struct limits *defaults,
                             const struct limits *max, struct limits *ret, char *ret_field,
                             size_t field_size, struct err *e);

/* ---- calls ---- */
struct api_identity {
    char name[KEY_NAME_MAX + 16]; /* "key:NAME", "unix:UID", "anonymous" */
    const char *key;              /* the name of the key, inside `name`; or NULL */
    /* For everything that belongs to a key: the id of the key; "operator" over a unix socket;
     * "anonymous". */
    char owner[KEY_ID_SIZE];
    int64_t since_ms; /* the creation of the key; runs before it belong to another one */
    scope_set scopes;
    uint32_t max_runs;
};

enum error_style {
    STYLE_V1,      /* {"error":{"code","message","field"}} */
    STYLE_DETAIL,  /* {"detail": message, "error": code, "message": message} */
    STYLE_NEMO,    /* {"process_status":"error","stdout":"","stderr":message} */
    STYLE_MCP,     /* {"jsonrpc":"2.0","id":null,"error":{"code","message"}} */
    STYLE_E2B,     /* {"code": status, "message"} */
    STYLE_CONNECT, /* {"code": word, "message"}: the Connect protocol, behind the door of E2B */
    STYLE_PISTON,  /* {"message"} */
    STYLE_JUDGE0,  /* {"error"} */
    STYLE_COUNT_
};

enum { API_PARAMS_MAX = 2, API_PARAM_SIZE = 1100 };

struct api_call {
    struct api *api;
    struct http_exchange *http; /* NULL once the client is gone */
    struct inner *inner;        /* NULL, or a door made this call (inner.h) */
    const struct api_route *route;
    char params[API_PARAMS_MAX][API_PARAM_SIZE]; /* the values of {...} in the path, in order */
    json_t *body; /* an object, validated; NULL if the route takes none */
    struct api_identity who;
    void *user; /* for the handler */
    /* The result of `prepare` of the route, with the function that frees it; NULL: it did not run.
     * A handler that takes it sets it to NULL. */
    void *prepared;
    void (*prepared_free)(void *prepared);
    /* The client went away. The call goes on until a handler ends it. */
    void (*on_gone)(struct api_call *c);
    void (*on_drain)(struct api_call *c);
    void (*on_half_close)(struct api_call *c);
    uint64_t began_us; /* for the log */
};

/* A successful answer of a route. A route has a row for each status, and for each content type of a
 * status. The last row has status 0. */
struct route_reply {
    int status;
    const struct api_field *fields; /* of the JSON, or of each event */
    const char *content_type;       /* NULL: JSON, or no body if there are no fields */
    bool list;                      /* an array of such objects */
    const char *help;
};
#define REPLIES(...)             \
    (const struct route_reply[]) \
    {                            \
        __VA_ARGS__,             \
        {                        \
            0                    \
        }                        \
    }
#define EVENT_REPLIES(fields_)                                            \
    { 200, .fields = (fields_), .content_type = "application/x-ndjson" }, \
    {                                                                     \
        200, .fields = (fields_), .content_type = "text/event-stream"     \
    }

/* A larger text is parsed, and made into a run, in a thread: this much takes 5 ms, and a thread
 * costs 0.1 ms. */
enum { API_LARGE_BYTES = 256 << 10 };

struct api_route {
    enum http_method method; /* a route with GET answers HEAD too */
    const char *path; /* "/v1/runs/{id}/files/{name...}": {name...} matches slashes as well */
    int scope;        /* enum scope, SCOPE_NONE or SCOPE_ANY */
    enum error_style style;
    const struct api_field *body;  /* NULL: no body is read */
    const struct api_field *query; /* NULL: no query is accepted */
    unsigned flags;
    void (*handle)(struct api_call *c);
    /* NULL, or the part of the handler that takes long if the body is large. It runs in a thread,
     * after the validation, and only for large bodies: it reads the body and `who` of the call, the
     * bytes of a ROUTE_RAW, and `here`, which has the settings and neither engine nor store. */
    int (*prepare)(struct api_call *c, const struct api *here, const struct buf *bytes,
                   char *ret_field, size_t field_size, struct err *e);
    /* NULL, or a look at the head: 1 if the body goes to a file, which this opened, with a bound of
     * its own; 0 if it is read as any other; -1 refuses. */
    int (*receive)(const struct api *api, const struct api_identity *who, struct http_request *q,
                   size_t *body_max, struct err *e);
    const struct route_reply *replies;
    const char *summary;
};
enum { SCOPE_NONE = -1, SCOPE_ANY = -2 }; /* no key is needed; any key will do */
enum {
    ROUTE_BODY_OPTIONAL = 1, /* a missing body is an empty object */
    ROUTE_LENIENT = 2,       /* unknown fields are ignored */
    ROUTE_RAW = 4, /* the handler reads http->request.body itself, and checks its content type */
    ROUTE_EARLY =
        8, /* it needs neither sessions nor templates, unless its body names a template: it
                      * does not wait for the search at the start of the service */
    ROUTE_ANY_QUERY = 16, /* the handler passes the query on as it is */
};

/* The table of each surface; ends with a row whose path is NULL. */
extern const struct api_route run_routes[], batch_routes[], comparison_routes[], meta_routes[],
    key_routes[], execute_routes[], artifact_routes[], approval_routes[], agent_routes[],
    diagnosis_routes[], session_routes[], cell_routes[], execute_session_routes[],
    session_event_routes[], session_file_routes[], session_fork_routes[], session_question_routes[],
    template_routes[], session_branch_routes[], session_checkpoint_routes[], session_sleep_routes[],
    session_image_routes[], console_routes[], stream_routes[], audit_routes[],
    artifact_list_routes[], test_routes[], check_routes[];

/* ---- answers (reply.c) ---- */
/* A header of the answer. Nothing if the client is gone, or for a call of a door (inner.h). */
void api_header(const struct api_call *c, const char *name, const char *value);
/* Ends the call. Takes over the reference of the JSON. */
void api_reply(struct api_call *c, int status, json_t *body);
/* For a large answer: make() and the text of its JSON run in a thread of libuv's pool. done() frees
 * the context, on the loop. */
void api_reply_made(struct api_call *c, int status, json_t *(*make)(void *context),
                    void (*done)(void *context), void *context);
void api_reply_text(struct api_call *c, int status, const char *content_type, const char *bytes,
                    size_t n);
/* In the style of the route, with the status of the error code. `field`: the name of the field, or
 * NULL. A 503 carries Retry-After. Errors of the host are logged. */
void api_fail(struct api_call *c, const struct err *e, const char *field);
void api_fail_no_memory(struct api_call *c);
/* An answer in pieces. */
void api_stream_begin(struct api_call *c, const char *content_type);
void api_stream_begin_as(struct api_call *c, int status, const char *content_type);
void api_stream_write(struct api_call *c, const void *bytes, size_t n);
size_t api_stream_queued(const struct api_call *c);
void api_stream_end(struct api_call *c); /* ends the call */
void api_stream_cut(struct api_call *c); /* the same, and the client sees that the end is missing */

/* A text of the body; NULL if absent. Borrowed. */
static inline const char *api_text(const struct api_call *c, const char *key)
{
    return json_string_value(json_object_get(c->body, key));
}

/* ---- queries (query_fields.c) ---- */
/* A value of the query; ret NULL if absent. */
[[nodiscard]] int api_query(const struct api_call *c, const char *name, char *out, size_t size,
                            const char **ret, struct err *e);
/* A number of the query within [min, max]; if it is absent, *value stays unchanged. */
[[nodiscard]] int api_query_number(const struct api_call *c, const char *name, int64_t min,
                                   int64_t max, int64_t *value, struct err *e);
/* A moment in a query, in the forms of base/moment.h. */
[[nodiscard]] int api_moment(const char *name, const char *text, int64_t now_ms, int64_t *ret_ms,
                             struct err *e);

/* ---- the api (api.c; handlers of HTTP events: call.c) ---- */
struct api {
    /* The caller of api_open() fills in: */
    uv_loop_t *loop;
    struct engine *engine;
    struct sessions *sessions;
    struct store *store;
    struct http_server *http;
    const struct settings *settings;
    const char *data_dir; /* of the store; api_open() reads the keys from there */
    int output_dir_fd;    /* directory of large outputs */
    int workspace_fd;     /* directory of /execute; -1: none */
    uid_t owner_uid;      /* may use the unix socket without a key, as root and our own uid may */
    /* The numeric address of each listener, by its index; "" for a unix socket. */
    char listeners[SETTINGS_LISTEN_MAX][64];
    bool draining;       /* set when the service begins to stop */
    uint64_t stopped_ms; /* a process of the service was stopped: clock of the loop; 0: never */
    /* The caller leaves these zero: */
    struct api_core *core;             /* api.c: router, documents */
    struct api_keys *keys;             /* key_store.c */
    struct approvals *approvals;       /* approvals.c: waiting requests, and the rules */
    struct group *groups;              /* group.c: current batches and comparisons */
    struct template_keeper *templates; /* template_rebuild.c: templates that are made anew */
    struct e2b *e2b;                   /* doors/e2b: helpers of sandboxes, and the key of tokens */
    struct mcp *mcp;                   /* doors/mcp: its sessions and requests */
    int64_t started_ms;                /* Unix time */
};

/* Reads the keys from the disk; no later call waits for the disk. */
[[nodiscard]] int api_open(struct api *api, struct err *e);
void api_close(struct api *api);
/* Another process changed the keys. */
void api_reload_keys(struct api *api);

/* For http_server_new(), whose context is the api. */
extern const struct http_handlers api_http_handlers;
extern const struct http_header api_every_header[];
extern const size_t api_n_every_header;
