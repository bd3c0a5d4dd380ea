#include "client/address.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "client/client.h"

enum { KEY_MAX = 256 };

void client_address_done(struct client_address *a)
{
    free(a->path);
    free(a->host);
    free(a->port);
    free(a->authority);
    *a = (struct client_address){ 0 };
}

bool client_is_visible(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text >= 0x7F)
            return false;
    return true;
}

/* Behind "http://". */
static int parse_authority(const char *url, const char *host, struct client_address *a,
                           struct err *e)
{
    size_t len = strcspn(host, "/");
    const char *rest = host + len;
    const char *end = *host == '[' ? memchr(host, ']', len) : NULL;
    const char *colon = memchr(end ? end : host, ':', len - (size_t)((end ? end : host) - host));
    size_t host_len = colon ? (size_t)(colon - host) : len;
    size_t port_len = colon ? len - host_len - 1 : 0;
    if (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "service '%s' has a path: give http://HOST:PORT alone", QUOTED(url));
    if (host_len == 0 || memchr(host, '@', len) ||
        (colon && (port_len == 0 || port_len > 5 || strspn(colon + 1, "0123456789") != port_len)))
        return err_set(e, ERR_BAD_REQUEST, 0, "service '%s' is not http://HOST:PORT", QUOTED(url));
    bool brackets = end && end == host + host_len - 1;
    a->authority = strndup(host, len);
    a->host = brackets ? strndup(host + 1, host_len - 2) : strndup(host, host_len);
    a->port = colon ? strndup(colon + 1, port_len) : strdup("80");
    return a->authority && a->host && a->port ? 0 : err_no_memory(e, "an address");
}

static int parse(const char *text, struct client_address *a, struct err *e)
{
    static const char http[] = "http://", https[] = "https://", unix_socket[] = "unix:";
    const char *path = text;
    if (!client_is_visible(text) && *text != '/')
        return err_set(e, ERR_BAD_REQUEST, 0, "service '%s' has blanks or control characters",
                       QUOTED(text));
    if (strncmp(text, https, strlen(https)) == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "service '%s' needs TLS, which is not spoken here: give the http:// address "
                       "behind its proxy, or of a tunnel (ssh -L 6000:127.0.0.1:6000 HOST)",
                       QUOTED(text));
    if (strncmp(text, http, strlen(http)) == 0)
        return parse_authority(text, text + strlen(http), a, e);
    if (strncmp(text, unix_socket, strlen(unix_socket)) == 0)
        path += strlen(unix_socket);
    if (*path != '/')
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "service '%s' is not an address: give the absolute path of a unix "
                       "socket, or http://HOST:PORT",
                       QUOTED(text));
    a->path = strdup(path);
    return a->path ? 0 : err_no_memory(e, "an address");
}

int client_address_parse(const char *text, struct client_address *ret, struct err *e)
{
    struct client_address a = { 0 };
    if (parse(text, &a, e)) {
        client_address_done(&a);
        return -1;
    }
    *ret = a;
    return 0;
}

int client_key_check(const char *key, struct err *e)
{
    if (!*key || !client_is_visible(key) || strlen(key) > KEY_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the key is not an API key: it has 1 to %d visible characters", KEY_MAX);
    return 0;
}

int client_address_connect(const struct client_address *a, const char *key, struct client **ret,
                           struct err *e)
{
    struct client *c = NULL;
    if (a->path ? client_connect(&c, a->path, e) : client_connect_tcp(&c, a->host, a->port, e))
        return -1;
    if (client_identify(c, a->authority, key, e)) {
        client_free(c);
        return -1;
    }
    *ret = c;
    return 0;
}
