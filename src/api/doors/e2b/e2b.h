/* api/doors/e2b/e2b.h — the door of E2B: a sandbox is a session of Python. Runs in: keeper.
 *
 * A request is for the control plane (create, list, kill; it has a key), or for a sandbox itself (it has
 * the header E2b-Sandbox-Id, and the token that the answer to `create` gave out). Code runs in cells.
 * Processes and files belong to a helper in the jar, which has the rights of the guest: this side passes
 * its answers on, and trusts none of them.
 *
 * Invariants
 * E2B-1 A token opens one sandbox, with the rights of the key that created it, for as long as that key
 *       exists. It cannot be computed without the key of the service.
 * E2B-2 Everything that a client gives to a sandbox is checked by the rules first: cells, commands,
 *       input of processes, names and contents of files. Commands and changes of files are in the
 *       audit log before they happen. Where a person would be asked first, they are refused.
 * E2B-3 Bytes of the helper are a guest's word: they are data of an answer. A helper that breaks the
 *       framing loses its connection, and its sandbox nothing else.
 * E2B-4 The facts of a sandbox are in the metadata of its session, which clients of /v1 write, too.
 *       They are used only if each of them has its type.
 * E2B-5 The bytes that wait for a helper are bounded, also if it does not read, and if the clients
 *       that sent them are gone.
 * E2B-6 A request to a port of a sandbox comes on a host name of that port alone, never on a name of the
 *       service. It is written anew for the program, without tokens and keys of this service, and the
 *       answer of the program is parsed and written anew. No answer sets a cookie for more than its own
 *       host name. */
#pragma once

#include "api/kernel/door.h"
#include "session/session.h"

extern const struct api_door e2b_door;
extern const struct api_route e2b_sandbox_routes[], e2b_snapshot_routes[], e2b_code_routes[],
    e2b_relay_routes[], e2b_port_route;

/* One context more than clients make: that which a sandbox begins with. */
enum { E2B_CONTEXTS_MAX = 65, E2B_DROPPED_MAX = 256 };
enum { E2B_TOKEN_SIZE = 65, E2B_TIMEOUT_S = 300, E2B_TIMEOUT_MAX_S = 24 * 3600 };
#define E2B_ENVD_VERSION "0.6.4"

/* ---- door.c ---- */
struct e2b {
    bool has_key;
    unsigned char key[32];
    struct helper *helpers; /* helper.c */
    struct port *ports;     /* ports.c: connections in use */
    uv_timer_t *timer;      /* life.c; NULL: not started */
    struct api *api;
};
/* NULL if memory ran out. */
struct e2b *e2b_of(struct api *api);
/* The token of a sandbox. -1 if the key of the service cannot be read. */
[[nodiscard]] int e2b_token(struct api *api, const char *id, char ret[E2B_TOKEN_SIZE],
                            struct err *e);
bool e2b_token_is(struct api *api, const char *id, const char *given, struct err *e);
/* The identity of the key that created a sandbox: 1, or -1 if that key was removed. */
[[nodiscard]] int e2b_become_owner(struct api *api, const struct session *s,
                                   struct api_identity *ret, struct err *e);
/* The sandbox whose token signed the URL of this request; NULL: none, or *e says why it is refused. */
struct session *e2b_signed_for(struct api *api, const struct http_request *q, struct err *e);
/* Ends a call with this status, in the form of its route. */
void e2b_fail(struct api_call *c, int status, const char *code, const char *message);
/* For parts of E2B's interface that cannot be served here. */
void e2b_not_served(struct api_call *c);

/* ---- life.c: sandboxes as sessions ---- */
/* The facts of the door about a session, in its metadata: template, metadata of the client, end. NULL:
 * another client made the session. */
json_t *e2b_facts(const struct session *s);
/* Whether each fact has its type (E2B-4). */
bool e2b_facts_fit(const json_t *facts);
/* Changes were made to them: a next keeper learns of them. */
void e2b_facts_changed(struct session *s);
/* A new set of facts. timeout in seconds. */
json_t *e2b_facts_new(const char *template, const json_t *metadata, double timeout_s, bool pauses,
                      bool resumes);
/* The sandbox ends, or pauses, so many seconds from now. */
void e2b_set_end(struct session *s, double timeout_s, bool only_later);
/* The session of the path, for the control plane. NULL: the call was answered with 404. */
struct session *e2b_control(struct api_call *c);
/* The session of the header, for a request to the sandbox itself. NULL: the call was answered (502), or
 * its handler is called again once the sandbox is awake. */
struct session *e2b_data(struct api_call *c);
/* Ends of sandboxes are watched from now on. */
void e2b_watch_ends(struct api *api);
void e2b_unwatch_ends(struct e2b *d);
/* A sandbox as answers of create and connect have it. */
json_t *e2b_sandbox_json(struct api_call *c, const struct session *s);
/* The template words that mean no template. */
bool e2b_is_plain_template(const char *name);

/* ---- checks.c: the rules (E2B-2) ---- */
struct e2b_command {
    json_t *raw;   /* the words, as they are: for rules that deny */
    json_t *shown; /* the line of a shell that does the same: for rules that allow, and the log */
};
/* Refuses a body of Start with types that the helper does not read. */
[[nodiscard]] int e2b_command_read(const json_t *body, struct e2b_command *ret, struct err *e);
void e2b_command_done(struct e2b_command *x);
[[nodiscard]] int e2b_check_command(const struct api_call *c, const struct session *s,
                                    const json_t *body, const struct e2b_command *x, struct err *e);
[[nodiscard]] int e2b_check_input(const struct api_call *c, const struct session *s, struct err *e);
/* names: of the files that change. bytes: the new content; NULL: none. packed: as gzip. */
[[nodiscard]] int e2b_check_file(const struct api_call *c, const struct session *s,
                                 const char *names, const struct buf *bytes, bool packed,
                                 struct err *e);

/* ---- ports.c: ports of sandboxes (E2B-6) ---- */
/* Whether a host is PORT-ID.DOMAIN of the setting doors.e2b_domain. */
bool e2b_owns_host(const struct settings *settings, const char *host);
/* The domain that clients make such names of. host: of their request, or NULL. */
void e2b_domain(const struct settings *settings, const char *host, char *ret, size_t size);

/* ---- snapshots.c ---- */
/* A sandbox that begins in a snapshot. Ends the call. Takes over the facts. */
void e2b_create_from_snapshot(struct api_call *c, const char *snapshot, json_t *facts);

/* ---- helper.c: the helper of a sandbox ---- */
struct helper;
struct helper_call {
    /* A message of the helper, borrowed. NULL: its connection is lost, and this was the last call. */
    void (*on_message)(struct helper_call *x, const json_t *message, const char *bytes, size_t n);
    uint32_t id; /* private, as the rest */
    struct helper *helper;
    struct helper_call *next;
};
/* Starts the helper, unless there is one. */
void helper_start(struct api *api, struct session *s);
/* Whether the program is busy with the start of the helper. Then the handler of the call is called again
 * after it, so that a client that pauses a new sandbox is not refused. */
bool helper_wait(struct api_call *c, const struct session *s);
/* Sends a request, which gets its id. Takes over the reference. on_message() follows. */
[[nodiscard]] int helper_send(struct api *api, struct session *s, struct helper_call *x,
                              json_t *request, const char *bytes, size_t n, struct err *e);
/* Sends one more message of a request. Takes over the reference. */
[[nodiscard]] int helper_add(const struct helper_call *x, json_t *message, const char *bytes,
                             size_t n, struct err *e);
/* No further messages; the helper is told, unless the request is over. */
void helper_drop(struct helper_call *x, bool over);
/* Reads nothing from the helper until the same call lets go again. */
void helper_hold(struct helper_call *x, bool hold);
void helpers_close(struct e2b *d);
