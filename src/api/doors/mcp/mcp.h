/* api/doors/mcp/mcp.h — the Model Context Protocol. Shared by the files beside it. Runs in: keeper.
 *
 * Invariants
 * MCP-1 A request gets exactly one answer with its id. A request that the client cancelled gets
 *       none.
 * MCP-2 A client that leaves cancels nothing: notifications/cancelled does. In revision 2026-07-28
 *       the end of the stream cancels.
 * MCP-3 A session of MCP belongs to the identity that began it; for others it does not exist. Their
 *       number and their age are bounded. Sandboxes that it began end with it.
 * MCP-4 A client decides on an approval only if its key has the scope `approve`. The state that a
 *       client sends back (requestState) is authenticated. */
#pragma once

#include "api/kernel/api.h"
#include "api/kernel/inner.h"
#include "base/id.h"
#include "runtime/language.h"

#define MCP_REVISION_TABLE(X)       \
    X(MCP_2025_03_26, "2025-03-26") \
    X(MCP_2025_06_18, "2025-06-18") \
    X(MCP_2025_11_25, "2025-11-25") \
    X(MCP_2026_07_28, "2026-07-28")
enum mcp_revision {
#define X(id, word) id,
    MCP_REVISION_TABLE(X)
#undef X
        MCP_REVISIONS
};
extern const char *const mcp_revisions[]; /* NULL-terminated */
/* MCP_REVISIONS: there is no such revision. */
enum mcp_revision mcp_revision_find(const char *word);

/* Codes of errors, of JSON-RPC and of MCP. */
enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_BAD_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002, /* before revision 2026-07-28 */
    MCP_HEADER_MISMATCH = -32020,
    MCP_NO_REVISION = -32022,
};

enum {
    MCP_SESSION_ID_SIZE = 80,
    MCP_SESSIONS_PER_OWNER = 64,
    MCP_SESSIONS_MAX = 1024,
    MCP_SESSION_IDLE_MS = 3600 * 1000,
    MCP_SANDBOXES = 4, /* of a session of MCP: one for each language */
    MCP_BATCH_MAX = 32,
    MCP_REQUESTS_MAX = 64, /* in flight, of one owner */
    MCP_LOG_NONE = 100,    /* above every level */
};

/* A session of the service that a session of MCP began for a tool without the argument `session`. */
struct mcp_sandbox {
    char id[ID_SIZE];                /* "": being created, or none */
    const struct language *language; /* NULL: none */
    uint64_t creating;               /* the number of its creation; 0: it is there */
    uint64_t used;                   /* the largest was used last */
};

/* A session of MCP: the state of one client. */
struct mcp_session {
    struct mcp_session *next;
    char id[MCP_SESSION_ID_SIZE];
    struct api_identity who;
    enum mcp_revision revision;
    bool elicits;
    int log_level;
    uint64_t used_ms; /* clock of the loop */
    unsigned requests;
    struct mcp_sandbox sandboxes[MCP_SANDBOXES];
};

/* api->mcp */
struct mcp {
    struct api *api;
    struct mcp_session *sessions;
    struct mcp_request *requests; /* in flight */
    uint64_t counter;
    unsigned char secret[32]; /* of requestState */
};
/* Made at its first use. NULL: no memory. */
struct mcp *mcp_of(struct api *api);

/* ---- one POST (mcp_door.c) ---- */
struct mcp_post {
    struct api_call *call;
    bool is_stdio; /* lines of JSON in place of server-sent events */
    bool streaming, is_batch, had_requests;
    unsigned pending; /* requests without an answer, and the reader of the messages */
    json_t *answer;   /* of the only request */
    int status;
};
/* A message before the answer: a notification, or a request to the client. Takes over the
 * reference. */
void mcp_post_send(struct mcp_post *p, json_t *message);
/* Ends the part of one request. */
void mcp_post_release(struct mcp_post *p);

/* ---- one request (mcp_request.c) ---- */
struct mcp_client {
    enum mcp_revision revision;
    bool elicits;
    int log_level;
};
struct mcp_tool;
struct mcp_request {
    struct mcp_request *next;
    struct mcp *mcp;
    struct mcp_post *post;
    struct mcp_session *session; /* NULL: none */
    struct mcp_client client;
    json_t *id, *params;
    const struct mcp_tool *tool;
    json_t *arguments; /* of the tool, validated; borrowed from params */
    uint64_t sandbox;  /* the number of the sandbox that it waits for; 0: none */
    bool creates;      /* that sandbox for its session of MCP */
    void (*on_sandbox)(struct mcp_request *r, const char *id);
    char target[ID_SIZE]; /* the session of the service that it is about */
    unsigned references;  /* itself, calls of routes, its timer */
    bool over;
    /* a run (mcp_run.c) */
    struct run *run;
    struct run_watch watch;
    bool is_cell, has_timer;
    bool left; /* its client is gone, and has cancelled it so (MCP-2) */
    uv_timer_t timer;
    uint64_t began_ms, sent_ms;
    char elicitation[40]; /* the id of the question to the client; "": none */
    char approval[ID_SIZE];
    json_t *first_page; /* of resources/list */
};

struct mcp_method {
    const char *name;
    void (*handle)(struct mcp_request *r);
    bool stateful, stateless; /* in revisions before 2026-07-28, and in that one */
};
extern const struct mcp_method mcp_methods[];

static inline bool mcp_is_stateless(const struct mcp_request *r)
{
    return r->client.revision == MCP_2026_07_28;
}
static inline const struct api_identity *mcp_who(const struct mcp_request *r)
{
    return &r->post->call->who;
}
/* A text of the parameters, or of the arguments of a tool; NULL if absent. */
static inline const char *mcp_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Each ends the request. Takes over the reference. */
void mcp_answer(struct mcp_request *r, json_t *result);
/* The same with the fields of a result that may be cached (revision 2026-07-28). */
void mcp_answer_list(struct mcp_request *r, json_t *result, unsigned ttl_ms);
[[gnu::format(printf, 4, 5)]] void mcp_error(struct mcp_request *r, int status, int code,
                                             const char *fmt, ...);
/* Takes over the data. */
void mcp_error_data(struct mcp_request *r, int status, int code, json_t *data, const char *text);
/* Without an answer: the client cancelled it. */
void mcp_end(struct mcp_request *r);
void mcp_release(struct mcp_request *r); /* one reference */
/* A call of a route in the name of the client. Fills in on_answer's context; the answer comes also
 * if the request is over. `body` is taken over. */
void mcp_call(struct mcp_request *r, enum http_method method, const char *path, const char *query,
              json_t *body, void (*on_answer)(void *r, const struct inner_answer *a));
/* A notification on the stream of the request. */
void mcp_notify(struct mcp_request *r, const char *method, json_t *params);
enum mcp_level { MCP_DEBUG, MCP_INFO, MCP_NOTICE, MCP_WARNING, MCP_ERROR };
extern const char *const mcp_level_words[]; /* NULL-terminated */
[[gnu::format(printf, 3, 4)]] void mcp_log(struct mcp_request *r, enum mcp_level level,
                                           const char *fmt, ...);

/* ---- sessions of MCP (mcp_session.c) ---- */
struct mcp_session *mcp_session_find(struct mcp *m, const char *id, const struct api_identity *who);
/* `id` NULL: a new one. */
[[nodiscard]] int mcp_session_new(struct mcp *m, const char *id, const struct api_identity *who,
                                  struct mcp_session **ret, struct err *e);
void mcp_session_end(struct mcp *m, struct mcp_session *s);
/* Ends sessions that nobody used for long. */
void mcp_sessions_sweep(struct mcp *m);
/* Calls on_sandbox() with the session that the argument `session` names, or that of the client,
 * which begins if there is none and `create` is true. Otherwise the tool fails. */
void mcp_with_sandbox(struct mcp_request *r, const struct language *language, bool create,
                      void (*on_sandbox)(struct mcp_request *r, const char *id));

/* ---- tools ---- */
struct mcp_tool {
    const char *name, *title, *description;
    const struct api_field *input, *output; /* output NULL: no structured content */
    bool reads_only, destroys, is_idempotent, open_world;
    void (*call)(struct mcp_request *r);
};
extern const struct mcp_tool mcp_tools[]; /* the last has no name (mcp_tools.c) */
void mcp_tools_list(struct mcp_request *r);
void mcp_tools_call(struct mcp_request *r);
/* The result of a tool. Takes over the references; structured NULL: none. */
void mcp_tool_answer(struct mcp_request *r, json_t *content, json_t *structured, bool failed);
/* A result that says why the tool failed: a model reads it and corrects its call. */
[[gnu::format(printf, 2, 3)]] void mcp_tool_fail(struct mcp_request *r, const char *fmt, ...);
/* The same for the refusal of a route. */
void mcp_tool_refused(struct mcp_request *r, const struct inner_answer *a);

/* ---- runs (mcp_run.c) ---- */
extern const struct api_field mcp_run_input[], mcp_cell_input[], mcp_run_output[], mcp_diagnosis[];
void mcp_run_code(struct mcp_request *r);
void mcp_run_cell(struct mcp_request *r);
/* Waits for the end of a run, and answers. */
void mcp_follow(struct mcp_request *r, struct run *run, bool is_cell);
void mcp_answer_pending(struct mcp_request *r);

/* ---- approvals (mcp_approval.c) ---- */
/* The run of the request waits for a decision. */
void mcp_approval_needed(struct mcp_request *r);
/* The answer of a client to elicitation/create. */
void mcp_approval_answered(struct mcp_request *r, const json_t *result);
/* tools/call with requestState: false if it has none. */
bool mcp_approval_resumed(struct mcp_request *r);

/* ---- content (mcp_content.c) ---- */
json_t *mcp_text_content(const char *text, size_t n);
void mcp_add_text(json_t *content, const char *text, size_t n);
/* A link to a resource; text for clients before revision 2025-06-18. */
void mcp_add_link(const struct mcp_request *r, json_t *content, const char *uri, const char *name,
                  const char *type, const char *help);
/* The text, cut in the middle if it has more than max bytes. */
void mcp_add_cut(json_t *content, const char *text, size_t n, size_t max);
/* A diagnosis in a few lines; nothing for null. */
void mcp_add_diagnosis(struct buf *b, const json_t *d);
/* "belljar://runs/ID/files/NAME", escaped; kind and name may be NULL. */
void mcp_uri(char *out, size_t size, const char *noun, const char *id, const char *kind,
             const char *name);
/* The result of tools/call for a run that is over. */
void mcp_answer_run(struct mcp_request *r, const struct run *run, bool is_cell);

/* ---- resources, prompts ---- */
void mcp_resources_list(struct mcp_request *r);
void mcp_resources_read(struct mcp_request *r);
void mcp_templates_list(struct mcp_request *r);
void mcp_prompts_list(struct mcp_request *r);
void mcp_prompts_get(struct mcp_request *r);
void mcp_complete(struct mcp_request *r);
