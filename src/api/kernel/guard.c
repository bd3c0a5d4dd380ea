#include "api/kernel/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

enum { NAME_SIZE = 256 };

bool guard_is_loopback(const char *numeric)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, numeric, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, numeric, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* Whether a comma-separated list has the word; ignores case. */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    while (*list) {
        list += strspn(list, ", \t");
        size_t len = strcspn(list, ",");
        size_t used = len;
        while (used > 0 && (list[used - 1] == ' ' || list[used - 1] == '\t'))
            used--;
        if (used > 0 && used == n && strncasecmp(list, word, n) == 0)
            return true;
        list += len;
    }
    return false;
}

/* "localhost:6000" -> "localhost", "[::1]:6000" -> "::1". -1 if it is not a host with an optional
 * port. */
static int host_name(const char *host, char out[NAME_SIZE])
{
    bool bracketed = host[0] == '[';
    const char *start = bracketed ? host + 1 : host;
    size_t n = strcspn(start, bracketed ? "]" : ":");
    const char *rest = start + n;
    if (n == 0 || n >= NAME_SIZE || (bracketed && *rest != ']'))
        return -1;
    rest += bracketed;
    if (*rest != '\0' && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")] != '\0'))
        return -1;
    (void)snprintf(out, NAME_SIZE, "%.*s", (int)n, start);
    return 0;
}

static bool same_address(const char *a, const char *b)
{
    unsigned char x[sizeof(struct in6_addr)], y[sizeof x];
    for (int i = 0; i < 2; i++) {
        int family = i == 0 ? AF_INET : AF_INET6;
        size_t n = i == 0 ? sizeof(struct in_addr) : sizeof x;
        if (inet_pton(family, a, x) == 1 && inet_pton(family, b, y) == 1)
            return memcmp(x, y, n) == 0;
    }
    return false;
}

static bool is_numeric(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* A listener on all addresses accepts any numeric host: DNS rebinding needs a name. */
static bool is_our_address(const struct guard_facts *f, const char *name)
{
    bool any = strcmp(f->listener, "0.0.0.0") == 0 || strcmp(f->listener, "::") == 0;
    return any ? is_numeric(name) : same_address(f->listener, name);
}

int guard_host(const struct guard_facts *f, struct err *e)
{
    static const char *const always[] = { "localhost", "127.0.0.1", "::1" };
    char name[NAME_SIZE], quoted[96];
    if (f->is_unix || listed(f->hosts, "*"))
        return 0;
    if (!f->host)
        return err_set(e, ERR_DENIED, 0, "the request has no Host header; send 'Host: localhost'");
    if (!host_name(f->host, name)) {
        for (size_t i = 0; i < ARRAY_LEN(always); i++)
            if (strcasecmp(name, always[i]) == 0)
                return 0;
        if (is_our_address(f, name) || listed(f->hosts, name))
            return 0;
    }
    return err_set(e, ERR_DENIED, 0,
                   "Host '%s' is not a name of this service; the setting http.hosts adds names",
                   text_quote(f->host, quoted, sizeof quoted));
}

static bool is_own_origin(const struct guard_facts *f)
{
    static const char scheme[] = "http://";
    return f->host && strncasecmp(f->origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(f->origin + sizeof scheme - 1, f->host) == 0;
}

int guard_origin(const struct guard_facts *f, bool *ret_cross, struct err *e)
{
    *ret_cross = false;
    if (f->origin) {
        if (is_own_origin(f))
            return 0;
        *ret_cross = listed(f->origins, f->origin);
        if (*ret_cross)
            return 0;
        return err_set(
            e, ERR_DENIED, 0,
            "pages of origin '%s' may not call this service; the setting http.origins adds "
            "origins",
            QUOTED(f->origin));
    }
    if (f->fetch_site && (strcasecmp(f->fetch_site, "cross-site") == 0 ||
                          strcasecmp(f->fetch_site, "same-site") == 0))
        return err_set(e, ERR_DENIED, 0,
                       "a page of another site or host sent this request (Sec-Fetch-Site: %s); the "
                       "setting http.origins allows origins",
                       f->fetch_site[0] == 'c' || f->fetch_site[0] == 'C' ? "cross-site"
                                                                          : "same-site");
    return 0;
}
