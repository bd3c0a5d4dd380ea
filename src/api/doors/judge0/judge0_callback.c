/* A callback is a run (JUDGE0-1): a short program that sends the result to one host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/doors/judge0/judge0.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

/* Follows no redirection: another host would be outside its network anyway. */
static const char program[] =
    "import http.client, json, sys, time, urllib.parse\n"
    "order = json.load(sys.stdin)\n"
    "url = urllib.parse.urlsplit(order['url'])\n"
    "kind = http.client.HTTPSConnection if url.scheme == 'https' else http.client.HTTPConnection\n"
    "for attempt in range(3):\n"
    "    try:\n"
    "        link = kind(url.hostname, url.port, timeout=10)\n"
    "        link.request('PUT', (url.path or '/') + (url.query and '?' + url.query),\n"
    "                     order['body'].encode(), {'Content-Type': 'application/json'})\n"
    "        print(link.getresponse().status)\n"
    "        break\n"
    "    except OSError as error:\n"
    "        print(error, file=sys.stderr)\n"
    "        time.sleep(0.2)\n"
    "else:\n"
    "    sys.exit(1)\n";

/* "https://host:8443/path" to "host:8443". */
static int host_of(const char *url, char *out, size_t size, struct err *e)
{
    static const struct {
        const char *scheme;
        unsigned port;
    } rows[] = { { "http://", 80 }, { "https://", 443 } };
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(rows[i].scheme);
        if (strncasecmp(url, rows[i].scheme, n) != 0)
            continue;
        const char *host = url + n;
        int len = (int)strcspn(host, "/?#");
        const char *bracket = memchr(host, ']', (size_t)len);
        const char *colon = memchr(bracket ? bracket : host, ':',
                                   (size_t)(len - (bracket ? bracket - host : 0)));
        if (len == 0 || len > 250 || memchr(host, '@', (size_t)len))
            break;
        (void)snprintf(out, size, colon ? "%.*s" : "%.*s:%u", len, host, rows[i].port);
        return 0;
    }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "'%s' is not the URL of a callback: http:// or https:// with a host and no user",
                   QUOTED(url));
}

json_t *judge0_callback_request(const char *url, const json_t *body, struct err *e)
{
    char host[300];
    if (host_of(url, host, sizeof host, e))
        return NULL;
    json_t *order = json_pack("{s:s}", "url", url);
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_put(order, "body", json_text_or_null(text));
    free(text);
    text = json_line(order);
    json_t *request = json_pack("{s:s, s:s, s:{s:[s]}, s:{s:i, s:i}, s:s, s:{s:s}}", "language",
                                "python", "code", program, "network", "allow", host, "limits",
                                "wall_ms", 40000, "cpu_ms", 5000, "stdin", text ? text : "",
                                "metadata", "judge0_callback", url);
    free(text);
    if (!request)
        (void)!err_no_memory(e, "the callback");
    return request;
}
