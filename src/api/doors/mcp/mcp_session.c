/* Sessions of MCP, and the sandboxes that they begin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/mcp/mcp.h"
#include "api/sessions/session_find.h"
#include "base/text.h"
#include "run/json.h"

enum { ID_MIN = 16, UNDO_CELLS = 3 };
static const char id_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* ---- sessions ---- */

/* A key that was removed and made again under its name is another owner. */
static bool is_of(const struct mcp_session *s, const struct api_identity *who)
{
    return strcmp(s->who.owner, who->owner) == 0 && s->who.since_ms == who->since_ms;
}

struct mcp_session *mcp_session_find(struct mcp *m, const char *id, const struct api_identity *who)
{
    for (struct mcp_session *s = m->sessions; s; s = s->next)
        if (strcmp(s->id, id) == 0 && is_of(s, who))
            return s;
    return NULL;
}

static void ignore_answer(void *context, const struct inner_answer *a)
{
    (void)context;
    (void)a;
}

static void end_sandbox(struct mcp *m, const struct api_identity *who, struct mcp_sandbox *x)
{
    char path[64];
    struct inner_request q = { .method = METHOD_DELETE, .path = path, .on_answer = ignore_answer };
    (void)snprintf(path, sizeof path, "/v1/sessions/%s", x->id);
    if (x->id[0] != '\0')
        inner_call(m->api, who, &q);
    *x = (struct mcp_sandbox){ 0 };
}

void mcp_session_end(struct mcp *m, struct mcp_session *s)
{
    struct mcp_session **at = &m->sessions;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    for (struct mcp_request *r = m->requests; r; r = r->next)
        if (r->session == s)
            r->session = NULL; /* it goes on, with its answer */
    for (int i = 0; i < MCP_SANDBOXES; i++)
        end_sandbox(m, &s->who, &s->sandboxes[i]);
    free(s);
}

void mcp_sessions_sweep(struct mcp *m)
{
    uint64_t now = uv_now(m->api->loop);
    struct mcp_session *next;
    for (struct mcp_session *s = m->sessions; s; s = next) {
        next = s->next;
        if (s->requests == 0 && now - s->used_ms > MCP_SESSION_IDLE_MS)
            mcp_session_end(m, s);
    }
}

/* The session of the owner (NULL: any) that was used longest ago and is idle; and the number of all. */
static struct mcp_session *oldest_idle(const struct mcp *m, const struct api_identity *who,
                                       unsigned *ret_count)
{
    struct mcp_session *oldest = NULL;
    *ret_count = 0;
    for (struct mcp_session *s = m->sessions; s; s = s->next) {
        if (who && !is_of(s, who))
            continue;
        ++*ret_count; /* the list begins with the newest: of two that were used at once, the later one counts */
        if (s->requests == 0 && (!oldest || s->used_ms <= oldest->used_ms))
            oldest = s;
    }
    return oldest;
}

/* A client whose session gave way begins another one: it gets 404. */
static int make_room(struct mcp *m, const struct api_identity *who, struct err *e)
{
    unsigned of_owner, all;
    struct mcp_session *s = oldest_idle(m, who, &of_owner);
    struct mcp_session *any = oldest_idle(m, NULL, &all);
    if (of_owner < MCP_SESSIONS_PER_OWNER && all < MCP_SESSIONS_MAX)
        return 0;
    /* An owner with too many sessions gives up one of its own. */
    if (!s && of_owner < MCP_SESSIONS_PER_OWNER)
        s = any;
    if (!s)
        return err_set(
            e, ERR_BUSY, 0,
            "%u sessions of MCP are in use: end one with DELETE /mcp, or try again later",
            of_owner);
    mcp_session_end(m, s);
    return 0;
}

static int check_id(const char *id, struct err *e)
{
    size_t n = strlen(id);
    bool fits = n >= ID_MIN && n < MCP_SESSION_ID_SIZE;
    for (size_t i = 0; fits && i < n; i++)
        fits = id[i] > ' ' && id[i] < 0x7F;
    return fits ? 0
                : err_set(e, ERR_BAD_REQUEST, 0,
                          "'%s' is not the id of a session: %d to %d visible ASCII characters are",
                          QUOTED(id), ID_MIN, MCP_SESSION_ID_SIZE - 1);
}

int mcp_session_new(struct mcp *m, const char *id, const struct api_identity *who,
                    struct mcp_session **ret, struct err *e)
{
    char made[ID_SIZE];
    if ((id && check_id(id, e)) || make_room(m, who, e))
        return -1;
    struct mcp_session *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "a session of MCP");
    id_make("mcp_", made);
    (void)snprintf(s->id, sizeof s->id, "%s", id ? id : made);
    s->who = *who;
    if (who->key)
        s->who.key = s->who.name + (who->key - who->name);
    s->revision = MCP_2025_11_25;
    s->log_level = MCP_LOG_NONE;
    s->used_ms = uv_now(m->api->loop);
    s->next = m->sessions;
    m->sessions = s;
    *ret = s;
    return 0;
}

/* ---- sandboxes ---- */

static bool is_alive(const struct mcp_request *r, const char *id)
{
    const struct session *s = session_find(r->mcp->api->sessions, id);
    return s && s->state != SESSION_ENDED;
}

/* Of this language (NULL: any) the one that was used last. */
static struct mcp_sandbox *find_sandbox(struct mcp_request *r, const struct language *language)
{
    struct mcp_sandbox *found = NULL;
    for (int i = 0; r->session && i < MCP_SANDBOXES; i++) {
        struct mcp_sandbox *x = &r->session->sandboxes[i];
        if (x->id[0] != '\0' && !is_alive(r, x->id))
            *x = (struct mcp_sandbox){ 0 };
        if (x->language && (!language || x->language == language) &&
            (!found || x->used > found->used))
            found = x;
    }
    return found;
}

/* A free place; otherwise that of the sandbox that was used longest ago, which ends. */
static struct mcp_sandbox *free_sandbox(struct mcp_request *r)
{
    struct mcp_sandbox *oldest = NULL;
    for (int i = 0; i < MCP_SANDBOXES; i++) {
        struct mcp_sandbox *x = &r->session->sandboxes[i];
        if (!x->language)
            return x;
        if (!x->creating && (!oldest || x->used < oldest->used))
            oldest = x;
    }
    if (oldest)
        end_sandbox(r->mcp, mcp_who(r), oldest);
    return oldest;
}

static void use(struct mcp_request *r, const char *id)
{
    (void)snprintf(r->target, sizeof r->target, "%s", id);
    r->on_sandbox(r, r->target);
}

/* NULL: its session of MCP is over. */
static struct mcp_sandbox *find_creation(const struct mcp *m, uint64_t number)
{
    for (struct mcp_session *s = m->sessions; s; s = s->next)
        for (int i = 0; i < MCP_SANDBOXES; i++)
            if (number && s->sandboxes[i].creating == number)
                return &s->sandboxes[i];
    return NULL;
}

/* The requests that waited for it, and the one that began it. */
static void tell_waiting(struct mcp *m, uint64_t number, const char *id,
                         const struct inner_answer *a)
{
    struct mcp_request *r = m->requests;
    while (r) {
        if (r->sandbox != number) {
            r = r->next;
            continue;
        }
        r->sandbox = 0;
        if (id)
            use(r, id);
        else
            mcp_tool_refused(r, a);
        r = m->requests; /* the list has changed */
    }
}

static void on_created(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    struct mcp *m = r->mcp;
    const char *id = mcp_text(a->json, "id");
    struct mcp_sandbox *x = find_creation(m, r->sandbox);
    uint64_t number = r->sandbox;
    struct err e = { 0 };
    if (id && !x && r->creates) { /* MCP-3: its session of MCP ended meanwhile */
        struct session *s = session_find(m->api->sessions, id);
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the session of MCP ended");
        if (s)
            session_end(s, e.text);
        tell_waiting(m, number, NULL, &(struct inner_answer){ .status = 503, .refusal = &e });
        mcp_release(r);
        return;
    }
    if (x) {
        x->creating = 0;
        (void)snprintf(x->id, sizeof x->id, "%s", id ? id : "");
        if (!id)
            *x = (struct mcp_sandbox){ 0 };
    }
    tell_waiting(m, number, id, a);
    mcp_release(r);
}

static void create(struct mcp_request *r, const struct language *language)
{
    const json_t *network = json_object_get(r->arguments, "network");
    json_t *body = json_pack("{s:s, s:{s:s}}", "language", language->name, "metadata", "made_by",
                             "mcp");
    if (language->forks)
        json_put(body, "undo", json_integer(UNDO_CELLS));
    if (json_array_size(network) > 0)
        json_put(body, "network", json_pack("{s:O}", "allow", network));
    mcp_call(r, METHOD_POST, "/v1/sessions", NULL, body, on_created);
}

void mcp_with_sandbox(struct mcp_request *r, const struct language *language, bool may_create,
                      void (*on_sandbox)(struct mcp_request *r, const char *id))
{
    const char *named = mcp_text(r->arguments, "session");
    bool remembers = r->session && !mcp_is_stateless(r);
    struct mcp_sandbox *x = remembers && !named ? find_sandbox(r, language) : NULL;
    r->on_sandbox = on_sandbox;
    if (named && (strlen(named) >= ID_SIZE || named[strspn(named, id_characters)] != '\0')) {
        mcp_tool_fail(r, "session '%s' is not the id of a session: run_cell returns ids",
                      QUOTED(named));
        return;
    }
    if (named) {
        use(r, named);
        return;
    }
    if (!x && !may_create) {
        mcp_tool_fail(r, "there is no session yet: run_cell or write_file begins one");
        return;
    }
    if (!language)
        language = language_find("python");
    if (!x && remembers) {
        x = free_sandbox(r);
        if (x)
            *x = (struct mcp_sandbox){ .language = language };
    }
    if (x)
        x->used = ++r->mcp->counter;
    if (x && x->id[0] != '\0') {
        use(r, x->id);
        return;
    }
    r->sandbox = x && x->creating ? x->creating : ++r->mcp->counter;
    if (x && x->creating)
        return; /* tell_waiting() */
    r->creates = x;
    if (x)
        x->creating = r->sandbox;
    create(r, language);
}
