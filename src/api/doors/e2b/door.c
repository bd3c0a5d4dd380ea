/* The door itself: its paths, the tokens of sandboxes, and requests that cannot be served. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/doors/e2b/e2b.h"
#include "api/kernel/auth.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/text.h"

struct e2b *e2b_of(struct api *api)
{
    if (!api->e2b && (api->e2b = calloc(1, sizeof *api->e2b)))
        api->e2b->api = api;
    return api->e2b;
}

static void close_door(struct api *api)
{
    if (!api->e2b)
        return;
    helpers_close(api->e2b);
    e2b_unwatch_ends(api->e2b);
    sodium_memzero(api->e2b->key, sizeof api->e2b->key);
    free(api->e2b);
    api->e2b = NULL;
}

/* ---- tokens ---- */

/* A file of 32 bytes beside the database: tokens outlive the keeper. */
static int read_key(const char *path, unsigned char key[32])
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 && fd_read_full(fd, key, 32) == 32 ? 0 : -1;
}

static int make_key(const char *path, unsigned char key[32], struct err *e)
{
    char draft[600];
    (void)snprintf(draft, sizeof draft, "%s.new", path);
    (void)unlink(draft);
    autoclose int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    randombytes_buf(key, 32);
    if (fd < 0 || fd_write_all(fd, key, 32) || fsync(fd) || rename(draft, path))
        return err_set(e, ERR_STORAGE, errno, "the key of the tokens of sandboxes, %s", path);
    return 0;
}

static int load_key(struct api *api, struct e2b *d, struct err *e)
{
    char path[560];
    if (d->has_key)
        return 0;
    (void)snprintf(path, sizeof path, "%.512s/e2b.key", api->data_dir);
    if (read_key(path, d->key) && make_key(path, d->key, e))
        return -1;
    d->has_key = true;
    return 0;
}

int e2b_token(struct api *api, const char *id, char ret[E2B_TOKEN_SIZE], struct err *e)
{
    struct e2b *d = e2b_of(api);
    unsigned char hash[32];
    if (!d)
        return err_no_memory(e, "a token");
    if (load_key(api, d, e))
        return -1;
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)id, strlen(id), d->key,
                             sizeof d->key);
    (void)sodium_bin2hex(ret, E2B_TOKEN_SIZE, hash, sizeof hash);
    return 0;
}

static bool same(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && sodium_memcmp(a, b, strlen(a)) == 0;
}

bool e2b_token_is(struct api *api, const char *id, const char *given, struct err *e)
{
    char token[E2B_TOKEN_SIZE];
    return e2b_token(api, id, token, e) == 0 && same(token, given);
}

/* ---- signatures of URLs, which hold no id: the sandbox is the one whose token made it ---- */

struct signature {
    char path[1100], user[64], given[64], expires[24];
    const char *operation;
};

static int take_part(const struct http_request *q, const char *name, char *out, size_t size)
{
    struct err e;
    const char *value = NULL;
    out[0] = '\0';
    return http_query_get(q, name, out, size, &value, &e) ? -1 : value != NULL;
}

static void sign(const struct signature *g, const char *token, char ret[64])
{
    char text[1400];
    unsigned char hash[crypto_hash_sha256_BYTES];
    char encoded[64];
    (void)snprintf(text, sizeof text, "%s:%s:%s:%s%s%s", g->path, g->operation, g->user, token,
                   g->expires[0] ? ":" : "", g->expires);
    (void)crypto_hash_sha256(hash, (const unsigned char *)text, strlen(text));
    (void)sodium_bin2base64(encoded, sizeof encoded, hash, sizeof hash,
                            sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
    (void)snprintf(ret, 64, "v1_%s", encoded);
}

struct session *e2b_signed_for(struct api *api, const struct http_request *q, struct err *e)
{
    struct signature g = { .operation = q->method == METHOD_POST ? "write" : "read" };
    char token[E2B_TOKEN_SIZE], right[64];
    struct session *found = NULL;
    int expires = take_part(q, "signature_expiration", g.expires, sizeof g.expires);
    if (take_part(q, "signature", g.given, sizeof g.given) != 1 || expires < 0 ||
        take_part(q, "path", g.path, sizeof g.path) < 0 ||
        take_part(q, "username", g.user, sizeof g.user) < 0)
        return NULL;
    if (expires && strtoll(g.expires, NULL, 10) < clock_unix_ms() / 1000) {
        (void)!err_set(e, ERR_NO_KEY, 0, "the signature of this URL expired: make a new one");
        return NULL;
    }
    for (struct session *s = sessions_first(api->sessions); s; s = s->next) {
        if (!e2b_facts(s) || e2b_token(api, s->id, token, e))
            continue;
        sign(&g, token, right);
        if (same(right, g.given))
            found = s;
    }
    if (!found && e->code == ERR_NONE)
        (void)!err_set(e, ERR_NO_KEY, 0,
                       "the signature of this URL belongs to no sandbox that lives");
    return found;
}

int e2b_become_owner(struct api *api, const struct session *s, struct api_identity *ret,
                     struct err *e)
{
    if (!s->spec.key) {
        *ret = (struct api_identity){ .scopes = SCOPES_ALL };
        (void)snprintf(ret->name, sizeof ret->name, "%s",
                       s->spec.actor ? s->spec.actor : "anonymous");
        (void)snprintf(ret->owner, sizeof ret->owner, "anonymous");
        return 1;
    }
    if (auth_find_key(api->keys, s->spec.key, s->created_ms, ret))
        return 1;
    return err_set(e, ERR_NO_KEY, 0, "the key that created this sandbox was removed");
}

/* A token is for requests to the sandbox itself, and opens no other route. */
static bool is_for_sandbox(const char *path)
{
    static const char *const beginnings[] = { "/execute",         "/contexts",
                                              "/files",           "/health",
                                              "/process.Process", "/filesystem.Filesystem" };
    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++) {
        size_t n = strlen(beginnings[i]);
        if (strncmp(path, beginnings[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return true;
    }
    return false;
}

/* E2B-1 */
static int identify(struct api *api, const struct http_request *q, struct api_identity *ret,
                    struct err *e)
{
    const char *id = http_request_header(q, "E2b-Sandbox-Id");
    const char *given = http_request_header(q, "X-Access-Token");
    char token[E2B_TOKEN_SIZE];
    if (!given)
        given = http_request_header(q, "E2B-Traffic-Access-Token");
    if (!id && strcmp(q->path, "/files") == 0) {
        const struct session *s = e2b_signed_for(api, q, e);
        return s ? e2b_become_owner(api, s, ret, e) : e->code != ERR_NONE ? -1 : 0;
    }
    const struct session *s = id ? session_find(api->sessions, id) : NULL;
    if (!id || !given || !s || !is_for_sandbox(q->path))
        return 0;
    if (e2b_token(api, id, token, e))
        return -1;
    if (!same(token, given))
        return err_set(e, ERR_NO_KEY, 0, "the access token does not belong to sandbox '%s'",
                       QUOTED(id));
    return e2b_become_owner(api, s, ret, e);
}

/* ---- answers ---- */

void e2b_fail(struct api_call *c, int status, const char *code, const char *message)
{
    api_reply(c, status,
              c->route->style == STYLE_CONNECT
                  ? json_pack("{s:s, s:s}", "code", code, "message", message)
                  : json_pack("{s:i, s:s}", "code", status, "message", message));
}

void e2b_not_served(struct api_call *c)
{
    char message[240];
    (void)snprintf(message, sizeof message,
                   "Belljar does not serve %s of E2B; docs/doors.md lists the parts that it serves",
                   c->route->summary);
    e2b_fail(c, 501, "unimplemented", message);
}

static const char *const paths[] = {
    "/sandboxes", "/v2/sandboxes", "/v3/sandboxes",    "/snapshots",
    "/templates", "/v2/templates", "/v3/templates",    "/volumes",
    "/secrets",   "/files",        "/process.Process", "/filesystem.Filesystem",
    NULL,
};
static const struct api_route *const tables[] = { e2b_sandbox_routes, e2b_snapshot_routes,
                                                  e2b_code_routes, e2b_relay_routes, NULL };

/* Processes and files are methods of the Connect protocol. */
static enum error_style style_at(const char *path)
{
    return strncmp(path, "/process.", 9) == 0 || strncmp(path, "/filesystem.", 12) == 0
               ? STYLE_CONNECT
               : STYLE_E2B;
}

const struct api_door e2b_door = {
    .name = "e2b",
    .setting = offsetof(struct settings, doors_e2b),
    .style_at = style_at,
    .paths = paths,
    .header = "E2b-Sandbox-Id",
    .tables = tables,
    .owns_host = e2b_owns_host,
    .host_route = &e2b_port_route,
    .identify = identify,
    .close = close_door,
};
