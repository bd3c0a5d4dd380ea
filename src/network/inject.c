#include "network/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "network/policy.h"

enum { HTTPS = 443, HTTP = 80 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char digits[] = "0123456789";

bool network_secret_is_name(const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n > NETWORK_SECRET_MAX || strchr(digits, text[0]))
        return false;
    for (const char *c = text; *c; c++)
        if (*c != '_' && !strchr(letters, *c) && !strchr(digits, *c))
            return false;
    return true;
}

/* They say where a request ends, where it goes, or how a server on the way treats it. */
static const char *const not_ours[] = {
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Upgrade",
    "Expect",
    "TE",
    "Trailer",
    "Keep-Alive",
    "Proxy-Connection",
    "HTTP2-Settings",
    "Range",
    "Max-Forwards",
};

static bool header_is_plain(const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n > NETWORK_HEADER_MAX)
        return false;
    for (const char *c = text; *c; c++)
        if (*c != '-' && !strchr(letters, *c) && !strchr(digits, *c))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(not_ours); i++)
        if (strcasecmp(text, not_ours[i]) == 0)
            return false;
    return true;
}

static bool prefix_is_plain(const char *text)
{
    if (strlen(text) > NETWORK_PREFIX_MAX)
        return false;
    for (const char *c = text; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            return false;
    return true;
}

bool network_inject_is_plain(const struct network_inject *x)
{
    return network_name_is_plain(x->host) && x->port != 0 && x->port != HTTP &&
           header_is_plain(x->header) && network_secret_is_name(x->secret) &&
           prefix_is_plain(x->prefix);
}

/* ---- one of them ---- */

static int read_host(const char *text, struct network_inject *ret, struct err *e)
{
    scoped(network_policy) p = { 0 };
    if (network_policy_add(&p, NETWORK_TCP, text, e))
        return -1;
    if (p.n == 0 || p.rules[0].host != NETWORK_HOST_NAME || p.rules[0].protocol != NETWORK_TCP ||
        p.rules[0].port == NETWORK_EVERY_PORT)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not the host of a secret: expected one name, such as "
                       "api.example.org",
                       QUOTED(text));
    ret->port = p.n > 1 ? HTTPS : p.rules[0].port;
    if (ret->port == HTTP)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is plain HTTP: a secret goes over TLS alone, at port 443 or another",
                       QUOTED(text));
    memcpy(ret->host, p.rules[0].name, sizeof ret->host);
    return 0;
}

int network_inject_make(const char *host, const char *header, const char *secret,
                        const char *prefix, struct network_inject *ret, struct err *e)
{
    struct network_inject x = { 0 };
    if (read_host(host, &x, e))
        return -1;
    if (!header_is_plain(header))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' cannot be the header of a secret: expected letters, digits and '-', "
                       "and no header that frames a request, such as Host or Content-Length",
                       QUOTED(header));
    if (!network_secret_is_name(secret))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not the name of a secret: expected letters, digits and '_'",
                       QUOTED(secret));
    if (prefix && !prefix_is_plain(prefix))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the prefix of a secret has up to %d printable ASCII characters",
                       NETWORK_PREFIX_MAX);
    (void)snprintf(x.header, sizeof x.header, "%s", header);
    (void)snprintf(x.secret, sizeof x.secret, "%s", secret);
    (void)snprintf(x.prefix, sizeof x.prefix, "%s", prefix ? prefix : "");
    *ret = x;
    return 0;
}

int network_inject_parse(const char *text, struct network_inject *ret, struct err *e)
{
    autofree char *copy = strdup(text);
    if (!copy)
        return err_no_memory(e, "an option");
    char *equals = strchr(copy, '=');
    if (equals)
        *equals = '\0';
    char *colon = strrchr(copy, ':');
    if (!equals || !colon)
        return err_set(e, ERR_USAGE, 0,
                       "'%s' is not HOST:HEADER=SECRET, such as "
                       "api.example.org:Authorization=API_KEY",
                       QUOTED(text));
    *colon = '\0';
    char *secret = equals + 1, *space = strrchr(secret, ' '), prefix[NETWORK_PREFIX_MAX + 2] = "";
    if (space) {
        (void)snprintf(prefix, sizeof prefix, "%.*s", (int)(space + 1 - secret), secret);
        secret = space + 1;
    }
    return network_inject_make(copy, colon + 1, secret, prefix, ret, e);
}

const char *network_inject_text(const struct network_inject *x, char out[NETWORK_INJECT_TEXT])
{
    (void)snprintf(out, NETWORK_INJECT_TEXT, "%s:%u %s: %s<%s>", x->host, x->port, x->header,
                   x->prefix, x->secret);
    return out;
}

/* ---- the grants of the operator ---- */

static size_t blanks(const char *text)
{
    return strspn(text, " \t\n");
}

/* The next grant as its name, and the text behind its '='; false: no more. */
static bool next_grant(const char **at, char *ret_name, size_t size, const char **ret_rest,
                       size_t *ret_n)
{
    const char *from = *at + strspn(*at, " \t\n;");
    if (!*from)
        return false;
    size_t n = strcspn(from, ";");
    size_t name = strcspn(from, "= \t\n;");
    const char *equals = memchr(from, '=', n);
    (void)snprintf(ret_name, size, "%.*s", (int)(name < size ? name : size - 1), from);
    *ret_rest = equals ? equals + 1 : NULL;
    *ret_n = equals ? n - (size_t)(equals + 1 - from) : 0;
    *at = from + n;
    return true;
}

bool network_secret_next(const char **at, char ret[NETWORK_SECRET_MAX + 1])
{
    const char *rest;
    size_t n;
    return next_grant(at, ret, NETWORK_SECRET_MAX + 1, &rest, &n);
}

/* The next word of a grant, in out; false: no more. */
static bool next_word(const char **at, const char *end, char *out, size_t size)
{
    *at += blanks(*at);
    if (*at >= end)
        return false;
    size_t n = strcspn(*at, " \t\n;");
    (void)snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), *at);
    *at += n;
    return true;
}

enum { WORD_SIZE = NETWORK_NAME_MAX + 16 };

static bool takes(const char *word, const char *kind, const char **ret_value)
{
    size_t n = strlen(kind);
    *ret_value = word + n;
    return strncmp(word, kind, n) == 0;
}

struct grant {
    bool any_header, any_key, host, header, key; /* the last three: it fits */
    size_t hosts;
};

static int look_at_word(const char *word, const struct network_inject *x, const char *key,
                        struct grant *g, struct err *e)
{
    const char *value;
    struct network_inject at = { 0 };
    if (takes(word, "header:", &value)) {
        if (!header_is_plain(value))
            return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not the header of a secret",
                           QUOTED(value));
        g->any_header = false;
        g->header = g->header || (x && strcasecmp(value, x->header) == 0);
        return 0;
    }
    if (takes(word, "key:", &value)) {
        g->any_key = false;
        g->key = g->key || (key && strcmp(value, key) == 0);
        return 0;
    }
    if (read_host(word, &at, e))
        return -1;
    g->hosts++;
    g->host = g->host || (x && at.port == x->port && strcmp(at.host, x->host) == 0);
    return 0;
}

static int look_at(const char *rest, size_t n, const struct network_inject *x, const char *key,
                   struct grant *ret, struct err *e)
{
    char word[WORD_SIZE];
    const char *at = rest;
    *ret = (struct grant){ .any_header = true, .any_key = true };
    while (next_word(&at, rest + n, word, sizeof word))
        if (look_at_word(word, x, key, ret, e))
            return -1;
    return 0;
}

int network_secrets_check(const char *grants, struct err *e)
{
    const char *at = grants, *rest;
    char name[NETWORK_SECRET_MAX + 2];
    size_t n;
    while (next_grant(&at, name, sizeof name, &rest, &n)) {
        struct grant g;
        if (!rest || !network_secret_is_name(name))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "'%s' does not begin the grant of a secret: expected NAME=HOST HOST, "
                           "with ; between secrets",
                           QUOTED(name));
        if (look_at(rest, n, NULL, NULL, &g, e))
            return -1;
        if (g.hosts == 0)
            return err_set(e, ERR_BAD_REQUEST, 0, "the secret '%s' has no host", name);
    }
    return 0;
}

static int refuse(const struct network_inject *x, const char *why, struct err *e)
{
    return err_set(e, ERR_DENIED, 0,
                   "the secret '%s' %s: its operator can allow it with the "
                   "setting network.secrets",
                   x->secret, why);
}

static int judge(const char *grants, const struct network_inject *x, const char *key,
                 bool ask_for_key, struct err *e)
{
    const char *at = grants, *rest;
    char name[NETWORK_SECRET_MAX + 2];
    const char *why = "does not exist here";
    size_t n;
    while (next_grant(&at, name, sizeof name, &rest, &n)) {
        struct grant g;
        if (strcmp(name, x->secret) != 0 || !rest)
            continue;
        if (look_at(rest, n, x, key, &g, e))
            return -1;
        /* One sentence for a key without the right and for no secret: names are no one's business. */
        if (ask_for_key && !g.any_key && !g.key)
            continue;
        if (g.host && (g.any_header || g.header))
            return 0;
        why = g.host ? "may not be in this header" : "may not go to this host";
    }
    return refuse(x, why, e);
}

int network_secret_granted(const char *grants, const struct network_inject *x, const char *key,
                           struct err *e)
{
    return judge(grants, x, key, true, e);
}

int network_secret_may_go(const char *grants, const struct network_inject *x, struct err *e)
{
    return judge(grants, x, NULL, false, e);
}
