/* Ports of a sandbox: a request whose Host is PORT-ID.DOMAIN goes to a program in the jar that listens on
 * that port. The helper makes the connection, in the network of the jar, and passes bytes on. The request
 * is written anew, and the answer is parsed and written anew: neither side sees framing of the other
 * (E2B-6). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/doors/e2b/e2b.h"
#include "api/sessions/session_find.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "http/reply_reader.h"
#include "run/json.h"
#include "store/key_rows.h"

enum {
    PORTS_MAX = 64,         /* connections to the ports of one sandbox */
    UNREAD_MAX = 1 << 20,   /* bytes of an upgraded connection that the program has not read */
    QUEUED_MAX = 256 << 10, /* bytes that the client has not read */
    CREDIT_STEP =
        128 << 10, /* the helper sends at most its window (512 KiB) before it hears of these */
};

struct port {
    struct helper_call helper;
    struct api_call *call;
    struct session *session;
    struct port *next;
    struct reply_reader *reader;
    unsigned number;
    size_t owed; /* bytes of the helper that it was not told of */
    size_t
        unread; /* bytes of the client on an upgraded connection, until the program has read them */
    bool begun, upgraded, writing, gone;
};

/* ---- names ---- */

/* "3000-ses_1.localhost:6080" of domain "localhost". */
static bool parse_host(const char *domain, const char *host, unsigned *ret_port,
                       char ret_id[ID_SIZE])
{
    size_t digits = strspn(host, "0123456789"), label = strcspn(host, ".:");
    size_t n = strlen(domain);
    if (n == 0 || digits == 0 || digits > 5 || host[0] == '0' || host[digits] != '-' ||
        host[label] != '.' || label - digits - 1 >= ID_SIZE || label == digits + 1)
        return false;
    const char *rest = host + label + 1;
    if (strncasecmp(rest, domain, n) != 0 || (rest[n] != '\0' && rest[n] != ':'))
        return false;
    *ret_port = (unsigned)strtoul(host, NULL, 10);
    (void)snprintf(ret_id, ID_SIZE, "%.*s", (int)(label - digits - 1), host + digits + 1);
    for (char *at = ret_id; *at; at++) /* browsers send names in lower case, and ids are in it */
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    return *ret_port <= 65535;
}

bool e2b_owns_host(const struct settings *settings, const char *host)
{
    unsigned port;
    char id[ID_SIZE];
    return parse_host(settings->doors_e2b_domain, host, &port, id);
}

/* The domain of an answer, of which SDKs make PORT-ID.DOMAIN: with the port of the service as the client
 * knows it. *.localhost is the machine of the client, so it is of no use to others. */
void e2b_domain(const struct settings *settings, const char *host, char *ret, size_t size)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
    const char *domain = settings->doors_e2b_domain;
    const char *port = host ? strrchr(host, ':') : NULL;
    if (!host || (port && port[1 + strspn(port + 1, "0123456789")] != '\0'))
        port = NULL;
    size_t n = !host ? 0 : port ? (size_t)(port - host) : strlen(host);
    bool fits = strcasecmp(domain, "localhost") != 0 || !host;
    for (size_t i = 0; i < ARRAY_LEN(local) && !fits; i++)
        fits = n == strlen(local[i]) && strncasecmp(host, local[i], n) == 0;
    if (domain[0] && fits)
        (void)snprintf(ret, size, "%s%s", domain, port ? port : "");
    else
        (void)snprintf(ret, size, "%s", host ? host : "");
}

/* ---- headers ---- */

/* Headers of one connection, and headers that the other side gets anew. */
static const char *const hop_by_hop[] = { "Connection",
                                          "Keep-Alive",
                                          "Proxy-Connection",
                                          "TE",
                                          "Trailer",
                                          "Transfer-Encoding",
                                          "Upgrade",
                                          "Content-Length",
                                          "Proxy-Authenticate",
                                          "Expect",
                                          "Proxy-Authorization" };
/* Tokens of this door, which are not for the guest. */
static const char *const tokens[] = { "E2B-Traffic-Access-Token", "X-Access-Token" };
/* Headers with an effect on other hosts of the domain, or on the connection to us. */
static const char *const far_reaching[] = { "Clear-Site-Data",      "Alt-Svc",
                                            "Public-Key-Pins",      "Strict-Transport-Security",
                                            "Origin-Agent-Cluster", "Date",
                                            "Content-Type" };

static bool is_in(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(name, list[i]) == 0)
            return true;
    return false;
}

/* Whether a list of words, as that of Connection, has the word. */
static bool lists(const char *list, const char *word)
{
    size_t n = strlen(word);
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t len = strcspn(list, " \t,");
        if (len > 0 && len == n && strncasecmp(list, word, n) == 0)
            return true;
        list += len;
    }
    return false;
}

static const char *header_of(const struct http_header *headers, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

static bool is_passed_on(const struct http_header *h, const struct http_header *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(all[i].name, "Connection") == 0 && lists(all[i].value, h->name))
            return false;
    return !is_in(h->name, hop_by_hop, ARRAY_LEN(hop_by_hop));
}

/* A key of this service opens far more than this sandbox, and a guest would learn it. */
static bool holds_key(const struct http_header *h)
{
    return strcasestr(h->value, KEY_PREFIX) != NULL &&
           (strcasecmp(h->name, "Authorization") == 0 || strcasecmp(h->name, "X-API-Key") == 0);
}

static bool is_websocket(const struct http_request *q)
{
    const char *upgrade = http_request_header(q, "Upgrade");
    return q->method == METHOD_GET && upgrade && strcasecmp(upgrade, "websocket") == 0 &&
           lists(http_request_header(q, "Connection"), "upgrade");
}

/* A new request, of the checked parts of the client's. */
static int write_request(const struct http_request *q, struct buf *b, struct err *e)
{
    if (buf_addf(b, e, "%s %s HTTP/1.1\r\n", http_method_name(q->method), q->target))
        return -1;
    for (size_t i = 0; i < q->n_headers; i++) {
        const struct http_header *h = &q->headers[i];
        if (is_passed_on(h, q->headers, q->n_headers) && !holds_key(h) &&
            !is_in(h->name, tokens, ARRAY_LEN(tokens)) &&
            buf_addf(b, e, "%s: %s\r\n", h->name, h->value))
            return -1;
    }
    bool may_have_body = q->method == METHOD_POST || q->method == METHOD_PUT ||
                         q->method == METHOD_PATCH;
    if ((q->has_body || may_have_body) && buf_addf(b, e, "Content-Length: %zu\r\n", q->body.len))
        return -1;
    return buf_addf(b, e, "%s\r\n",
                    is_websocket(q) ? "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                    : "Connection: close\r\n") ||
                   (q->body.len > 0 && buf_add(b, q->body.data, q->body.len, e))
               ? -1
               : 0;
}

/* A cookie for a whole domain would reach other sandboxes, and the service itself. */
static bool is_wide_cookie(const struct http_header *h)
{
    if (strcasecmp(h->name, "Set-Cookie") != 0)
        return false;
    for (const char *at = strchr(h->value, ';'); at; at = strchr(at, ';')) {
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, "domain", 6) == 0)
            return true;
    }
    return false;
}

static void add_headers(struct http_exchange *x, const struct http_header *headers, size_t n)
{
    bool has_frames = false;
    for (size_t i = 0; i < n; i++) {
        const struct http_header *h = &headers[i];
        if (!is_passed_on(h, headers, n) || is_wide_cookie(h) ||
            is_in(h->name, far_reaching, ARRAY_LEN(far_reaching)))
            continue;
        has_frames = has_frames || strcasecmp(h->name, "X-Frame-Options") == 0;
        http_answer_header(x, h->name, h->value);
    }
    /* Pages of the host may not join it by document.domain, and their program decides on frames. */
    http_answer_header(x, "Origin-Agent-Cluster", "?1");
    if (!has_frames)
        http_answer_header(x, "X-Frame-Options", "ALLOWALL");
}

/* ---- the life of a connection ---- */

static void port_free(struct port *p, bool over)
{
    struct port **at = &p->call->api->e2b->ports;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    helper_drop(&p->helper, over);
    reply_reader_free(p->reader);
    free(p);
}

static void fail_port(struct api_call *c, unsigned number, const char *message)
{
    char text[200];
    (void)snprintf(text, sizeof text, "Port %u of the sandbox: %s", number, message);
    e2b_fail(c, 502, "unavailable", text);
}

/* `over`: the helper has closed the connection. */
static void port_fail(struct port *p, const char *message, bool over)
{
    struct api_call *c = p->call;
    unsigned number = p->number;
    bool begun = p->begun;
    c->on_gone = c->on_drain = c->on_half_close = NULL;
    port_free(p, over);
    if (begun)
        api_stream_cut(c);
    else
        fail_port(c, number, message);
}

static void port_finish(struct port *p, bool over)
{
    struct api_call *c = p->call;
    port_free(p, over);
    api_stream_end(c);
}

static void on_gone(struct api_call *c)
{
    struct port *p = c->user;
    if (p->writing)
        p->gone = true;
    else
        port_finish(p, false);
}

/* ---- from the program to the client ---- */

/* The helper sends no more than its window, until it is told that bytes were taken. */
static void give_credit(struct port *p)
{
    struct err e = { 0 };
    if (p->owed < CREDIT_STEP)
        return;
    if (helper_add(&p->helper, json_pack("{s:I}", "credit", (json_int_t)p->owed), NULL, 0, &e) == 0)
        p->owed = 0;
}

static void on_drain(struct api_call *c)
{
    struct port *p = c->user;
    if (!p->writing)
        give_credit(p);
}

static void on_bytes(struct http_exchange *x, const char *bytes, size_t n)
{
    struct api_call *c = x->user;
    struct port *p = c ? c->user : NULL;
    struct err e = { 0 };
    if (!p)
        return;
    p->unread += n;
    if (p->unread > UNREAD_MAX ||
        helper_add(&p->helper, json_pack("{s:b}", "more", 1), bytes, n, &e))
        port_finish(p, false);
}

static void on_head(void *context, int status, const struct http_header *headers, size_t n)
{
    struct port *p = context;
    struct api_call *c = p->call;
    p->begun = true;
    if (!c->http)
        return;
    add_headers(c->http, headers, n);
    if (status == 101) {
        p->upgraded = true;
        c->on_half_close = on_gone;
        http_answer_header(c->http, "Upgrade", "websocket");
        http_upgrade(c->http, on_bytes);
    } else {
        api_stream_begin_as(c, status, header_of(headers, n, "Content-Type"));
    }
}

static void on_body(void *context, const char *bytes, size_t n)
{
    struct port *p = context;
    api_stream_write(p->call, bytes, n);
}

static const struct reply_events events = { .on_head = on_head, .on_body = on_body };

static void take_bytes(struct port *p, const char *bytes, size_t n)
{
    struct err e = { 0 };
    enum reply_state state = REPLY_MORE;
    p->writing = true; /* a write can call on_gone() */
    int failed = reply_reader_feed(p->reader, bytes, n, &state, &e);
    p->writing = false;
    p->owed += n;
    if (failed && !p->gone) {
        port_fail(p, "the program does not answer in HTTP/1.1", false);
    } else if (p->gone || state == REPLY_WHOLE) {
        port_finish(p, false);
    } else {
        size_t queued = api_stream_queued(p->call);
        if (queued != SIZE_MAX && queued < QUEUED_MAX)
            give_credit(p); /* otherwise on_drain() does */
    }
}

static void on_message(struct helper_call *x, const json_t *message, const char *bytes, size_t n)
{
    struct port *p = (struct port *)x;
    json_int_t took = json_integer_value(json_object_get(message, "took"));
    if (took > 0)
        p->unread -= (size_t)took < p->unread ? (size_t)took : p->unread;
    if (!message)
        port_fail(p, "the sandbox ended, or was paused, meanwhile", true);
    else if (json_object_get(message, "error"))
        port_fail(p, "no program listens on it", true);
    else if (json_object_get(message, "chunk"))
        take_bytes(p, bytes, n);
    else if (!json_object_get(message, "end"))
        return;
    else if (reply_reader_end(p->reader))
        port_finish(p, true);
    else
        port_fail(p, "the program closed the connection without an answer", true);
}

/* ---- requests ---- */

static bool has_token(struct api_call *c, const char *id)
{
    struct err e = { 0 };
    const char *given = http_request_header(&c->http->request, tokens[0]);
    return given && e2b_token_is(c->api, id, given, &e);
}

static bool is_public(const struct session *s)
{
    return !json_is_true(json_object_get(e2b_facts(s), "private_ports"));
}

static size_t ports_of(const struct api_call *c, const struct session *s)
{
    size_t n = 0;
    for (const struct port *p = c->api->e2b ? c->api->e2b->ports : NULL; p; p = p->next)
        n += p->session == s;
    return n;
}

/* The sandbox of the host, as its owner sees it. NULL: the call was answered, or its handler is called
 * again once the sandbox is awake. */
static struct session *find_sandbox(struct api_call *c, const char *id)
{
    struct err e = { 0 };
    struct session *s = session_find(c->api->sessions, id);
    const json_t *facts = s ? e2b_facts(s) : NULL;
    if (!facts) {
        e2b_fail(c, 502, "unavailable", "The sandbox was not found: it ended");
        return NULL;
    }
    if (!is_public(s) && !has_token(c, id)) {
        e2b_fail(c, 403, "permission_denied",
                 "This sandbox was created with allowPublicTraffic: false; send its "
                 "trafficAccessToken in the header E2B-Traffic-Access-Token");
        return NULL;
    }
    if (e2b_become_owner(c->api, s, &c->who, &e) < 0 || e2b_check_input(c, s, &e)) {
        api_fail(c, &e, NULL);
        return NULL;
    }
    if (session_must_wake(s) && json_is_true(json_object_get(facts, "auto_resume"))) {
        (void)snprintf(c->params[0], sizeof c->params[0], "%s", id);
        return session_to_use(c);
    }
    if (session_must_wake(s)) {
        e2b_fail(c, 502, "unavailable", "The sandbox is paused: Sandbox.connect() resumes it");
        return NULL;
    }
    return s;
}

static struct port *port_new(struct api_call *c, struct session *s, unsigned number, struct err *e)
{
    const struct http_request *q = &c->http->request;
    struct e2b *door = e2b_of(c->api);
    struct port *p = door ? calloc(1, sizeof *p) : NULL;
    if (!p ||
        reply_reader_new(&p->reader, &events, p, q->method == METHOD_HEAD, is_websocket(q), e)) {
        free(p);
        (void)!err_no_memory(e, "a connection to a sandbox");
        return NULL;
    }
    p->helper.on_message = on_message;
    p->call = c;
    p->session = s;
    p->number = number;
    p->next = door->ports;
    door->ports = p;
    return p;
}

static void call_port(struct api_call *c)
{
    struct err e = { 0 };
    const struct http_request *q = &c->http->request;
    const char *host = http_request_header(q, "Host");
    char id[ID_SIZE];
    unsigned number;
    scoped(buf) bytes = { 0 };
    if (!host || !parse_host(c->api->settings->doors_e2b_domain, host, &number, id)) {
        e2b_fail(c, 502, "unavailable", "The sandbox was not found: it ended");
        return;
    }
    struct session *s = find_sandbox(c, id);
    if (!s)
        return;
    if (q->method == METHOD_OTHER)
        (void)!err_set(&e, ERR_METHOD, 0, "ports of sandboxes serve the usual methods of HTTP");
    else if (ports_of(c, s) >= PORTS_MAX)
        (void)!err_set(&e, ERR_BUSY, 0, "the sandbox has %d connections to its ports: close one",
                       PORTS_MAX);
    else
        (void)!write_request(q, &bytes, &e);
    struct port *p = e.code == ERR_NONE ? port_new(c, s, number, &e) : NULL;
    if (p && helper_send(c->api, s, &p->helper,
                         json_pack("{s:s, s:i}", "method", "port", "port", (int)number), bytes.data,
                         bytes.len, &e)) {
        port_free(p, true);
        p = NULL;
    }
    if (!p) {
        api_fail(c, &e, NULL);
        return;
    }
    c->user = p;
    c->on_gone = on_gone;
    c->on_drain = on_drain;
}

const struct api_route e2b_port_route = { METHOD_GET,
                                          "/{rest...}",
                                          SCOPE_NONE,
                                          STYLE_E2B,
                                          .flags = ROUTE_RAW | ROUTE_LENIENT | ROUTE_ANY_QUERY,
                                          .handle = call_port,
                                          .summary = "A port of a sandbox" };
