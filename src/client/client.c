#include "client/client.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <llhttp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"

enum { READ_BYTES = 1 << 16, RETRY_AFTER_MAX_S = 86400 };

struct client {
    int fd;
    struct buf out; /* unsent rest of the request */
    size_t out_from;
    int file_fd; /* the rest of the body comes from it */
    uint64_t file_left;
    llhttp_t parser;
    struct client_response response;
    struct buf body;
    /* of the body: bytes of lines already taken; bytes known to contain no newline */
    size_t taken, scanned;
    size_t body_max, head_bytes;
    bool asked;      /* a request has been sent before */
    bool keep_alive; /* as the last response says */
    bool write_over; /* the service no longer reads, but may still answer */
    bool useless;
    char name[32], value[32]; /* of the current header; a longer one is not relevant here */
    size_t name_len, value_len;
    char *host, *key; /* of every request; NULL: "localhost", none */
    struct err err;   /* why a callback stopped the parser */
};

/* --- the parser's callbacks --- */

static int count_head(struct client *c, size_t n)
{
    c->head_bytes += n;
    if (c->head_bytes > CLIENT_HEAD_MAX)
        return err_set(&c->err, ERR_PROTOCOL, 0, "the service's answer has a head of over %d bytes",
                       CLIENT_HEAD_MAX);
    return 0;
}

static int on_begin(llhttp_t *p)
{
    struct client *c = p->data;
    c->head_bytes = 0;
    c->name_len = c->value_len = 0;
    return 0;
}

static int on_status(llhttp_t *p, const char *at, size_t n)
{
    (void)at;
    return count_head(p->data, n);
}

static void append(char *to, size_t size, size_t *len, const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++, (*len)++)
        if (*len < size)
            to[*len] = at[i];
}

static int on_name(llhttp_t *p, const char *at, size_t n)
{
    struct client *c = p->data;
    append(c->name, sizeof c->name, &c->name_len, at, n);
    return count_head(c, n);
}

static int on_value(llhttp_t *p, const char *at, size_t n)
{
    struct client *c = p->data;
    append(c->value, sizeof c->value, &c->value_len, at, n);
    return count_head(c, n);
}

static int on_header(llhttp_t *p)
{
    static const char name[] = "Retry-After";
    struct client *c = p->data;
    if (c->name_len == sizeof name - 1 && strncasecmp(c->name, name, c->name_len) == 0) {
        unsigned seconds = 0;
        bool number = c->value_len > 0;
        for (size_t i = 0; number && i < c->value_len; i++) {
            number = i < sizeof c->value && isdigit((unsigned char)c->value[i]);
            if (number && seconds < RETRY_AFTER_MAX_S)
                seconds = seconds * 10 + (unsigned)(c->value[i] - '0');
        }
        c->response.retry_after_s = number ? seconds : 0;
    }
    c->name_len = c->value_len = 0;
    return 0;
}

static int on_head(llhttp_t *p)
{
    struct client *c = p->data;
    c->response.status = p->status_code;
    if (p->status_code < 200) /* no request of ours causes such a response */
        return err_set(&c->err, ERR_PROTOCOL, 0, "the service's answer has status %d",
                       p->status_code);
    if (llhttp_message_needs_eof(p))
        return err_set(&c->err, ERR_PROTOCOL, 0, "the service's answer has no length");
    return 0;
}

static int on_body(llhttp_t *p, const char *at, size_t n)
{
    struct client *c = p->data;
    if (n > c->body_max || c->body.len - c->taken > c->body_max - n)
        return err_set(&c->err, ERR_TOO_LARGE, 0,
                       "the service's answer is too large: up to %zu bytes are accepted",
                       c->body_max);
    return buf_add(&c->body, at, n, &c->err);
}

static int on_complete(llhttp_t *p)
{
    struct client *c = p->data;
    c->response.complete = true;
    c->keep_alive = llhttp_should_keep_alive(p);
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_message_begin = on_begin,
    .on_status = on_status,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_header,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

/* --- connections --- */

int client_adopt(struct client **ret, int fd, struct err *e)
{
    autoclose int owned = fd;
    struct client *c = calloc(1, sizeof *c);
    if (!c)
        return err_no_memory(e, "a connection");
    if (fd_set_nonblock(owned, e)) {
        free(c);
        return -1;
    }
    c->fd = fd_take(&owned);
    *ret = c;
    return 0;
}

int client_connect(struct client **ret, const char *path, struct err *e)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    /* While the backlog of the service is full, connect() waits as long as a write does. */
    const struct timeval patience = { .tv_sec = CLIENT_CONNECT_MS / 1000 };
    if (strlen(path) >= sizeof address.sun_path)
        return err_set(e, ERR_BAD_REQUEST, ENAMETOOLONG, "connect to the service at %s", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket");
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "connect to the service at %s", path);
    return client_adopt(ret, fd_take(&fd), e);
}

/* connect() to one address, for at most CLIENT_CONNECT_MS: the descriptor, or -1 with errno set. */
static int connect_within(const struct addrinfo *a)
{
    const int on = 1;
    int failed = 0;
    socklen_t size = sizeof failed;
    autoclose int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd_take(&fd);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    if (errno != EINPROGRESS)
        return -1;
    int n = poll(&p, 1, CLIENT_CONNECT_MS);
    if (n == 0)
        errno = ETIMEDOUT;
    if (n <= 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) < 0)
        return -1;
    errno = failed;
    return failed ? -1 : fd_take(&fd);
}

int client_connect_tcp(struct client **ret, const char *host, const char *port, struct err *e)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    autoclose int fd = -1;
    int why = getaddrinfo(host, port, &hints, &found);
    if (why != 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "find the service at %s:%s: %s", host, port,
                       gai_strerror(why));
    int last = EADDRNOTAVAIL;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        if ((fd = connect_within(a)) < 0)
            last = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return err_set(e, ERR_UNAVAILABLE, last, "connect to the service at %s:%s", host, port);
    return client_adopt(ret, fd_take(&fd), e);
}

int client_identify(struct client *c, const char *host, const char *key, struct err *e)
{
    char *host_copy = text_copy(host), *key_copy = text_copy(key);
    if ((host && !host_copy) || (key && !key_copy)) {
        free(host_copy);
        free(key_copy);
        return err_no_memory(e, "a connection");
    }
    free(c->host);
    free(c->key);
    c->host = host_copy;
    c->key = key_copy;
    return 0;
}

const char *client_host(const struct client *c)
{
    return c->host;
}

const char *client_key(const struct client *c)
{
    return c->key;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    fd_close(&c->fd);
    buf_done(&c->out);
    buf_done(&c->body);
    free(c->host);
    free(c->key);
    free(c);
}

void client_done(struct client **c)
{
    client_free(*c);
    *c = NULL;
}

int client_peer(const struct client *c, uid_t *ret_uid, struct err *e)
{
    struct ucred who;
    socklen_t size = sizeof who;
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
        return err_set(e, ERR_KERNEL, errno, "get the uid of the service");
    *ret_uid = who.uid;
    return 0;
}

/* --- requests --- */

static int write_head(const struct client *c, struct buf *b, const struct client_request *q,
                      struct err *e)
{
    if (buf_addf(b, e, "%s %s HTTP/1.1\r\nHost: %s\r\n", q->method, q->path,
                 c->host ? c->host : "localhost") ||
        (c->key && buf_addf(b, e, "Authorization: Bearer %s\r\n", c->key)) ||
        (q->accept && buf_addf(b, e, "Accept: %s\r\n", q->accept)) ||
        (q->headers && buf_add(b, q->headers, strlen(q->headers), e)) ||
        (q->json && buf_addf(b, e, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                             q->json_len)) ||
        (q->bytes &&
         buf_addf(b, e, "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n",
                  q->n_bytes)) ||
        (q->has_file && buf_addf(b, e,
                                 "Content-Type: application/octet-stream\r\n"
                                 "Content-Length: %llu\r\n",
                                 (unsigned long long)q->file_bytes)))
        return -1;
    return buf_add(b, "\r\n", 2, e);
}

int client_send(struct client *c, const struct client_request *q, struct err *e)
{
    if (c->useless || (c->asked && !c->response.complete))
        return err_set(e, ERR_CONFLICT, 0, "this connection cannot send a request now");
    c->out.len = c->out_from = 0;
    if (write_head(c, &c->out, q, e) || (q->json && buf_add(&c->out, q->json, q->json_len, e)) ||
        (q->bytes && buf_add(&c->out, q->bytes, q->n_bytes, e)))
        return -1;
    c->file_fd = q->file_fd;
    c->file_left = q->has_file ? q->file_bytes : 0;
    llhttp_init(&c->parser, HTTP_RESPONSE, &callbacks);
    c->parser.data = c;
    c->response = (struct client_response){ 0 };
    c->body.len = c->taken = c->scanned = 0;
    c->body_max = q->body_max;
    c->asked = true;
    c->keep_alive = false;
    return 0;
}

bool client_reusable(const struct client *c)
{
    char byte;
    if (c->useless || c->write_over || c->out_from < c->out.len ||
        (c->asked && (!c->response.complete || !c->keep_alive)))
        return false;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* --- for the event loop --- */

int client_fd(const struct client *c)
{
    return c->fd;
}

static bool unsent(const struct client *c)
{
    return (c->out_from < c->out.len || c->file_left > 0) && !c->write_over;
}

short client_events(const struct client *c, bool read)
{
    bool waiting = c->asked && !c->response.complete && !c->useless;
    return (short)((waiting && read ? POLLIN : 0) | (waiting && unsent(c) ? POLLOUT : 0));
}

/* The next piece of the file, once the piece before it is sent. */
static int read_piece(struct client *c, struct err *e)
{
    size_t want = c->file_left < READ_BYTES ? (size_t)c->file_left : READ_BYTES;
    c->out.len = c->out_from = 0;
    if (buf_reserve(&c->out, want, e))
        return -1;
    ssize_t n = read(c->file_fd, c->out.data, want);
    if (n <= 0)
        return err_set(e, n < 0 ? ERR_KERNEL : ERR_BAD_REQUEST, n < 0 ? errno : 0,
                       "read the file for the service");
    c->out.len = (size_t)n;
    c->file_left -= (uint64_t)n;
    return 0;
}

static int write_some(struct client *c, struct err *e)
{
    if (c->out_from == c->out.len && read_piece(c, e))
        return -1;
    ssize_t n = send(c->fd, c->out.data + c->out_from, c->out.len - c->out_from, MSG_NOSIGNAL);
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        c->write_over = true; /* it may have answered before it has read everything */
        return 0;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return err_set(e, ERR_KERNEL, errno, "write to the service");
    if (n > 0)
        c->out_from += (size_t)n;
    return 0;
}

static int parse(struct client *c, const char *bytes, size_t n, struct err *e)
{
    c->err = (struct err){ 0 };
    llhttp_errno_t got = llhttp_execute(&c->parser, bytes, n);
    if (got == HPE_OK)
        return 0;
    if (got == HPE_PAUSED && c->response.complete) {
        /* bytes follow that no request asked for */
        if (llhttp_get_error_pos(&c->parser) != bytes + n)
            c->useless = true;
        return 0;
    }
    c->useless = true;
    if (c->err.code != ERR_NONE)
        *e = c->err;
    else
        (void)!err_set(e, ERR_PROTOCOL, 0, "the service's answer is not HTTP: %s",
                       llhttp_errno_name(got));
    return -1;
}

/* Removes the taken part of the body. */
static void drop_taken(struct client *c)
{
    if (c->taken == 0)
        return;
    c->body.len -= c->taken;
    c->scanned -= c->taken;
    memmove(c->body.data, c->body.data + c->taken, c->body.len);
    c->taken = 0;
}

static int read_some(struct client *c, struct err *e)
{
    char bytes[READ_BYTES];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && errno != ECONNRESET)
        return err_set(e, ERR_KERNEL, errno, "read from the service");
    if (n <= 0) {
        c->useless = true;
        return err_set(e, ERR_UNAVAILABLE, 0, "the service closed the connection");
    }
    c->response.began = true;
    drop_taken(c);
    return parse(c, bytes, (size_t)n, e);
}

int client_ready(struct client *c, short revents, struct err *e)
{
    short ended = POLLHUP | POLLERR;
    if ((revents & (POLLOUT | ended)) && unsent(c) && write_some(c, e))
        return -1;
    if ((revents & (POLLIN | ended)) && c->asked && !c->response.complete)
        return read_some(c, e);
    return 0;
}

const struct client_response *client_response(const struct client *c)
{
    return &c->response;
}

const char *client_body(const struct client *c, size_t *ret_len)
{
    *ret_len = c->body.len - c->taken;
    return buf_str(&c->body) + c->taken;
}

void client_take(struct client *c, size_t n)
{
    c->taken += n;
    if (c->scanned < c->taken)
        c->scanned = c->taken;
}

bool client_line(struct client *c, const char **ret_line, size_t *ret_len)
{
    if (c->scanned == c->body.len)
        return false;
    const char *newline = memchr(c->body.data + c->scanned, '\n', c->body.len - c->scanned);
    if (!newline) {
        c->scanned = c->body.len;
        return false;
    }
    *ret_line = c->body.data + c->taken;
    *ret_len = (size_t)(newline - *ret_line);
    c->taken = c->scanned = (size_t)(newline - c->body.data) + 1;
    return true;
}

int client_ask(struct client *c, const struct client_request *q, int patience_ms, struct err *e)
{
    if (client_send(c, q, e))
        return -1;
    while (!c->response.complete) {
        struct pollfd p = { .fd = c->fd, .events = client_events(c, true) };
        int n = poll(&p, 1, patience_ms);
        if (n < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the service");
        if (n == 0)
            return err_set(e, ERR_UNAVAILABLE, 0, "the service does not answer");
        if (n > 0 && client_ready(c, p.revents, e))
            return -1;
    }
    return 0;
}

/* --- refusals --- */

static enum err_code code_named(const char *name, int status)
{
    for (int i = ERR_NONE + 1; name && i < ERR_COUNT_; i++)
        if (i != ERR_USAGE && strcmp(err_name((enum err_code)i), name) == 0)
            return (enum err_code)i;
    return status >= 500 ? ERR_UNAVAILABLE : ERR_BAD_REQUEST;
}

int client_refusal(const struct client *c, struct err *e)
{
    size_t len, used = 0;
    const char *body = client_body(c, &len);
    json_t *answer = json_loadb(body, len, JSON_ALLOW_NUL, NULL);
    const json_t *error = json_object_get(answer, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    if (!message) /* the style of /api/artifacts */
        message = json_string_value(json_object_get(answer, "detail"));
    int status = c->response.status;
    struct err refusal = { .code = code_named(code, status) };
    if (!message)
        (void)!err_set(&refusal, refusal.code, 0, "the service answered with status %d", status);
    /* The sentence goes to a terminal, so control characters are removed. */
    for (; message && message[used] && used < sizeof refusal.text - 1; used++) {
        unsigned char byte = (unsigned char)message[used];
        refusal.text[used] = (char)(byte < 0x20 || byte == 0x7F ? ' ' : byte);
    }
    json_decref(answer);
    *e = refusal;
    return -1;
}

int client_add_escaped(struct buf *b, const char *text, struct err *e)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = isalnum(byte) || strchr("-._~/", byte);
        if (plain ? buf_add(b, text, 1, e) : buf_addf(b, e, "%%%02X", byte))
            return -1;
    }
    return 0;
}
