#include "http/parse.h"

#include <llhttp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* State of llhttp's callbacks while it reads a head. */
struct split {
    struct http_head *head;
    size_t n_headers;
    size_t max_headers;
    const char *value; /* where the value of the last header must start */
    bool complete;
};

bool is_token_byte(char byte)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    char lower = (char)(byte | 0x20);
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') ||
           (byte != '\0' && memchr(others, byte, sizeof others - 1));
}

static bool is_token(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_token_byte(s[i]))
            return false;
    return n > 0;
}

void head_done(struct http_head *h)
{
    buf_done(&h->text);
    free(h->headers);
    *h = (struct http_head){ 0 };
}

bool head_keeps_alive(const struct http_head *h)
{
    return !h->asks_close && (!h->http_1_0 || h->asks_keep_alive);
}

/* ---- the request line ---- */

static enum http_method method_of(const char *s, size_t n)
{
    for (int m = 0; m < METHOD_OTHER; m++) {
        const char *name = http_method_name((enum http_method)m);
        if (strlen(name) == n && memcmp(name, s, n) == 0)
            return (enum http_method)m;
    }
    return METHOD_OTHER;
}

static int check_version(struct http_head *h, const char *version, size_t n, struct refusal *r)
{
    static const char form[] = "HTTP/1.1";
    if (n != sizeof form - 1 || memcmp(version, form, 5) != 0 || version[6] != '.' ||
        !strchr("0123456789", version[5]) || !strchr("0123456789", version[7]))
        return refuse(r, 400, "the request line does not end with HTTP/1.1 or HTTP/1.0");
    if (version[5] != '1' || (version[7] != '1' && version[7] != '0'))
        return refuse(r, 505, "the request uses '%.8s'; this server supports HTTP/1.1 and HTTP/1.0",
                      version);
    h->http_1_0 = version[7] == '0';
    return 0;
}

static int check_target(const char *target, size_t n, struct refusal *r)
{
    if (n == 0 || target[0] != '/')
        return refuse(r, 400,
                      "the request's target does not start with '/'; send a path such as "
                      "/v1/health");
    for (size_t i = 0; i < n; i++)
        if (target[i] <= 0x20 || (unsigned char)target[i] >= 0x7f || target[i] == '#')
            return refuse(r, 400,
                          "the request's target contains a byte that is not allowed there; "
                          "escape it with %%");
    return 0;
}

/* Exactly: method, one space, target, one space, version. Returns the start of the target, or
 * NULL. */
static char *request_line(struct http_head *h, struct http_request *q, char *line, size_t n,
                          struct refusal *r)
{
    char *space = memchr(line, ' ', n);
    size_t method_len = space ? (size_t)(space - line) : 0;
    q->method = method_of(line, method_len);
    if (!space || !is_token(line, method_len)) {
        (void)refuse(r, 400, "the request line does not start with a method and a space");
        return NULL;
    }
    if (method_len == 7 && memcmp(line, "CONNECT", 7) == 0) {
        (void)refuse(r, 400, "method CONNECT is for proxies; this server is not one");
        return NULL;
    }
    char *target = space + 1;
    char *end = memchr(target, ' ', n - method_len - 1);
    if (!end) {
        (void)refuse(r, 400, "the request line is not 'METHOD /path HTTP/1.1'");
        return NULL;
    }
    if (check_version(h, end + 1, n - (size_t)(end + 1 - line), r) ||
        check_target(target, (size_t)(end - target), r))
        return NULL;
    return target;
}

static unsigned plain_slashes(const char *path, size_t len)
{
    unsigned n = 0;
    for (size_t i = 0; i < len; i++) {
        n += path[i] == '/';
        if (len - i >= 3 && strncasecmp(path + i, "%2f", 3) == 0)
            return n;
    }
    return 0;
}

static int split_target(struct http_head *h, struct http_request *q, char *target,
                        struct refusal *r)
{
    size_t n = strcspn(target, " ");
    target[n] = '\0';
    size_t path_len = strcspn(target, "?");
    /* behind the head, in memory that head_parse() reserved */
    char *path = h->text.data + h->text.len + 1;
    if (percent_decode(target, path_len, false, path, path_len + 1) < 0)
        return refuse(r, 400,
                      "the path has a bad escape: two hex digits other than 00 must "
                      "follow '%%'");
    q->target = target;
    q->plain_slashes = plain_slashes(target, path_len);
    q->path = path;
    q->query = target[path_len] ? target + path_len + 1 : "";
    return 0;
}

/* ---- llhttp ---- */

/* Our own reading of a line must agree with llhttp: a name of token bytes from the start of the
 * line to the first colon, and a value within the line. */
static int on_name(llhttp_t *p, const char *at, size_t n)
{
    struct split *s = p->data;
    if (s->n_headers >= s->max_headers || at[-1] != '\n' || !is_token(at, n) || at[n] != ':')
        return HPE_USER;
    s->head->headers[s->n_headers++] = (struct http_header){ at, NULL };
    s->value = at + n + 1 + strspn(at + n + 1, " \t");
    return HPE_OK;
}

static int on_value(llhttp_t *p, const char *at, size_t n)
{
    struct split *s = p->data;
    if (n > 0 && (s->n_headers == 0 || at != s->value || n > strcspn(at, "\r")))
        return HPE_USER;
    return HPE_OK;
}

static int on_headers_complete(llhttp_t *p)
{
    struct split *s = p->data;
    s->complete = true;
    return 1; /* skips the body, which chunks_feed() or a count reads */
}

/* The headers of a request or of an answer. */
static int split_headers(struct http_head *h, llhttp_type_t type, size_t lines, size_t *ret_n,
                         struct refusal *r)
{
    const char *what = type == HTTP_REQUEST ? "request" : "answer";
    static const llhttp_settings_t settings = {
        .on_header_field = on_name,
        .on_header_value = on_value,
        .on_headers_complete = on_headers_complete,
    };
    struct split s = { .head = h, .max_headers = lines - 1 };
    llhttp_t p;
    llhttp_init(&p, type, &settings);
    p.data = &s;
    llhttp_errno_t result = llhttp_execute(&p, h->text.data, h->text.len);
    if (result == HPE_INVALID_METHOD) {
        char method[32], quoted[96];
        size_t n = strcspn(h->text.data, " ");
        n = n < sizeof method ? n : sizeof method - 1;
        memcpy(method, h->text.data, n);
        method[n] = '\0';
        return refuse(r, 501, "method '%s' is not supported; use GET, POST or DELETE",
                      text_quote(method, quoted, sizeof quoted));
    }
    if (result == HPE_USER)
        return refuse(r, 400, "a header is malformed; headers are 'Name: value' CR LF");
    if (result != HPE_OK && result != HPE_PAUSED_UPGRADE)
        return refuse(r, 400, "the %s's head is malformed: %s", what, llhttp_get_error_reason(&p));
    if (!s.complete || s.n_headers != lines - 1)
        return refuse(r, 400, "the %s's head is malformed: a line is not a header", what);
    *ret_n = s.n_headers;
    return 0;
}

/* Turns names and values into strings. A value ends before the spaces at the end of its line. */
static void cut_headers(struct http_head *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *colon = h->text.data + (h->headers[i].name - h->text.data);
        colon += strcspn(colon, ":");
        char *value = colon + 1 + strspn(colon + 1, " \t");
        char *end = value + strcspn(value, "\r");
        while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *colon = *end = '\0';
        h->headers[i].value = value;
    }
}

/* ---- headers that this server acts on ---- */

#define SINGLE(name)           \
    {                          \
        name, sizeof(name) - 1 \
    }

enum single { HOST, LENGTH, ENCODING, TYPE, ORIGIN, AUTHORIZATION, EXPECT, SINGLE_COUNT };
static const struct {
    const char *name;
    size_t len;
} singles[SINGLE_COUNT] = {
    [HOST] = SINGLE("Host"),
    [LENGTH] = SINGLE("Content-Length"),
    [ENCODING] = SINGLE("Transfer-Encoding"),
    [TYPE] = SINGLE("Content-Type"),
    [ORIGIN] = SINGLE("Origin"),
    [AUTHORIZATION] = SINGLE("Authorization"),
    [EXPECT] = SINGLE("Expect"),
};

/* Connection: a list of words, two of which matter here. */
static void read_connection(struct http_head *h, const char *list)
{
    while (*list) {
        list += strspn(list, " \t,");
        size_t n = strcspn(list, " \t,");
        if (n == 5 && strncasecmp(list, "close", n) == 0)
            h->asks_close = true;
        else if (n == 10 && strncasecmp(list, "keep-alive", n) == 0)
            h->asks_keep_alive = true;
        list += n;
    }
}

static int find_singles(struct http_head *h, size_t n_headers, const char *values[SINGLE_COUNT],
                        struct refusal *r)
{
    for (size_t i = 0; i < n_headers; i++) {
        const char *name = h->headers[i].name;
        size_t len = strlen(name);
        if (len == 10 && strcasecmp(name, "Connection") == 0)
            read_connection(h, h->headers[i].value);
        for (size_t k = 0; k < SINGLE_COUNT; k++) {
            if (len != singles[k].len || strcasecmp(name, singles[k].name) != 0)
                continue;
            if (values[k])
                return refuse(r, 400, "header %s occurs twice; send it once", singles[k].name);
            values[k] = h->headers[i].value;
        }
    }
    return 0;
}

static int check_host(const struct http_head *h, const char *host, struct refusal *r)
{
    if (!host && h->http_1_0)
        return 0;
    if (!host)
        return refuse(r, 400, "the Host header is missing; HTTP/1.1 requires it");
    size_t n = strlen(host);
    for (size_t i = 0; i < n; i++)
        if (!is_token_byte(host[i]) && !strchr(":[]();,=", host[i]))
            return refuse(r, 400,
                          "the Host header is not a name or address with a port, such as "
                          "localhost:8080");
    return 0;
}

static int read_length(struct http_head *h, const char *text, struct refusal *r)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n])
        return refuse(r, 400, "Content-Length is not a number; send the body's bytes in decimal");
    if (n > 18)
        return refuse(r, 413, "Content-Length has more than 18 digits; send less");
    for (size_t i = 0; i < n; i++)
        h->length = h->length * 10 + (uint64_t)(text[i] - '0');
    return 0;
}

/* A count or chunks; neither is guessed. */
static int read_body_form(struct http_head *h, const char *const values[SINGLE_COUNT],
                          struct refusal *r)
{
    const char *encoding = values[ENCODING];
    if (encoding && values[LENGTH])
        return refuse(r, 400, "Content-Length and Transfer-Encoding are both present; send one");
    if (encoding && (h->http_1_0 || strcasecmp(encoding, "chunked") != 0))
        return refuse(r, 400, "Transfer-Encoding must be 'chunked', and only in HTTP/1.1");
    h->chunked = encoding != NULL;
    return values[LENGTH] ? read_length(h, values[LENGTH], r) : 0;
}

static int read_framing(struct http_head *h, const char *const values[SINGLE_COUNT],
                        struct refusal *r)
{
    const char *expect = values[EXPECT];
    if (read_body_form(h, values, r))
        return -1;
    if (expect && !h->http_1_0) {
        if (strcasecmp(expect, "100-continue") != 0)
            return refuse(r, 417, "the Expect header is not '100-continue'; leave it out");
        h->wants_continue = h->chunked || h->length > 0;
    }
    return check_host(h, values[HOST], r);
}

/* The head and the decoded path share one block of memory; each header has a row. */
static int make_room(struct http_head *h, const char *bytes, size_t n, size_t lines,
                     struct refusal *r)
{
    struct err e;
    h->text.len = 0;
    if (lines > h->headers_cap) {
        size_t cap = lines < 16 ? 16 : lines;
        struct http_header *grown = realloc(h->headers, cap * sizeof *grown);
        if (!grown)
            return refuse(r, 503, "no memory for the request; try again later");
        h->headers = grown;
        h->headers_cap = cap;
    }
    if (buf_reserve(&h->text, 2 * n + 2, &e) || buf_add(&h->text, bytes, n, &e))
        return refuse(r, 503, "no memory for the request; try again later");
    return 0;
}

static void reset(struct http_head *h)
{
    h->http_1_0 = h->wants_continue = h->chunked = h->asks_close = h->asks_keep_alive = false;
    h->length = 0;
}

int head_parse(struct http_head *h, const char *bytes, size_t n, size_t lines,
               struct http_request *q, struct refusal *r)
{
    const char *values[SINGLE_COUNT] = { 0 };
    size_t n_headers = 0;
    if (make_room(h, bytes, n, lines, r))
        return -1;
    reset(h);
    char *target = request_line(h, q, h->text.data, strcspn(h->text.data, "\r"), r);
    if (!target || split_headers(h, HTTP_REQUEST, lines, &n_headers, r))
        return -1;
    cut_headers(h, n_headers);
    q->headers = h->headers;
    q->n_headers = n_headers;
    if (split_target(h, q, target, r) || find_singles(h, n_headers, values, r))
        return -1;
    return read_framing(h, values, r);
}

/* ---- answers ---- */

/* "HTTP/1.1 200 OK": the words behind the number may be missing. */
static int status_line(struct http_head *h, const char *line, size_t n, int *ret_status,
                       struct refusal *r)
{
    static const char form[] = "HTTP/1.1 200";
    size_t size = sizeof form - 1;
    if (n < size || check_version(h, line, 8, r) || line[8] != ' ' ||
        strspn(line + 9, "0123456789") != 3 || (n > size && line[size] != ' ') || line[9] == '0')
        return refuse(r, 400, "the answer does not start with 'HTTP/1.1 STATUS'");
    *ret_status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
    return 0;
}

int head_parse_answer(struct http_head *h, const char *bytes, size_t n, size_t lines,
                      struct answer_head *ret, struct refusal *r)
{
    const char *values[SINGLE_COUNT] = { 0 };
    if (make_room(h, bytes, n, lines, r))
        return -1;
    reset(h);
    *ret = (struct answer_head){ .headers = h->headers };
    if (status_line(h, h->text.data, strcspn(h->text.data, "\r"), &ret->status, r) ||
        split_headers(h, HTTP_RESPONSE, lines, &ret->n_headers, r))
        return -1;
    cut_headers(h, ret->n_headers);
    if (find_singles(h, ret->n_headers, values, r) || read_body_form(h, values, r))
        return -1;
    ret->until_close = !h->chunked && !values[LENGTH];
    return 0;
}
