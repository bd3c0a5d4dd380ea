#include "cli/mcp/bridge.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/id.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/repl/link.h"
#include "cli/repl/passing.h"
#include "client/client.h"
#include "run/privileges.h"

enum {
    LINES_AT_ONCE = 64,
    LINE_BYTES_MAX = 64 << 20,
    ANSWER_BYTES_MAX = 64 << 20,
    READ_BYTES = 64 << 10,
    ASK_MS = 10000,
    /* Answers that are on their way when stdin ends: clients wait two seconds for our end. */
    LAST_MS = 1500,
};

static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":\"belljar\",\"method\":\"ping\"}";

struct bridge {
    const struct bridge_job *job;
    char headers[128];
    struct buf input;
    size_t scanned;                        /* bytes of the input without a newline */
    bool ended;                            /* stdin */
    struct client *clients[LINES_AT_ONCE]; /* NULL: none */
    bool busy[LINES_AT_ONCE];
    int starting; /* whose answer has no head yet; -1: none */
};

/* ---- connections ---- */

static int connect_anew(struct bridge *b, struct client **ret, struct err *e)
{
    enum link_type type;
    scoped(buf) why = { 0 };
    int fd = -1;
    if (link_send(b->job->link_fd, TELL_CONNECT, "", 0, e) ||
        link_receive_fd(b->job->link_fd, &type, &why, &fd, e))
        return -1;
    if (type != ASK_CONNECTED)
        return err_set(e, ERR_PROTOCOL, 0, "the link has an unexpected record");
    return passing_take(&why, fd, ret, e);
}

/* A place whose connection can take a request; -1 if all are busy. */
static int free_place(const struct bridge *b)
{
    int found = -1;
    for (int i = 0; i < LINES_AT_ONCE; i++) {
        if (b->busy[i])
            continue;
        if (b->clients[i] && client_reusable(b->clients[i]))
            return i;
        found = i;
    }
    return found;
}

static int prepare_place(struct bridge *b, int place, struct err *e)
{
    if (b->clients[place] && client_reusable(b->clients[place]))
        return 0;
    client_done(&b->clients[place]);
    return connect_anew(b, &b->clients[place], e);
}

static struct client_request request_of(const struct bridge *b, const char *method,
                                        const char *line, size_t n)
{
    return (struct client_request){ .method = method,
                                    .path = "/mcp",
                                    .accept = "application/json, text/event-stream",
                                    .headers = b->headers,
                                    .json = line,
                                    .json_len = n,
                                    .body_max = ANSWER_BYTES_MAX };
}

/* ---- lines ---- */

/* The next line of the input; false if there is none. */
static bool next_line(struct bridge *b, size_t *ret_len)
{
    const char *from = buf_str(&b->input);
    const char *end = memchr(from + b->scanned, '\n', b->input.len - b->scanned);
    if (!end)
        b->scanned = b->input.len;
    else
        *ret_len = (size_t)(end - from);
    return end != NULL;
}

static void drop_line(struct bridge *b, size_t n)
{
    memmove(b->input.data, b->input.data + n + 1, b->input.len - n - 1);
    b->input.len -= n + 1;
    b->scanned = 0;
}

static bool is_blank(const char *line, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r", line[i]))
        i++;
    return i == n;
}

static int send_lines(struct bridge *b, struct err *e)
{
    size_t n;
    int place;
    while (b->starting < 0 && (place = free_place(b)) >= 0 && next_line(b, &n)) {
        const struct client_request q = request_of(b, "POST", b->input.data, n);
        if (!is_blank(b->input.data, n)) {
            if (prepare_place(b, place, e) || client_send(b->clients[place], &q, e))
                return -1;
            b->busy[place] = true;
            b->starting = place;
        }
        drop_line(b, n);
    }
    return 0;
}

static int read_input(struct bridge *b, struct err *e)
{
    if (b->input.len > LINE_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "a message has more than %d bytes", LINE_BYTES_MAX);
    if (buf_reserve(&b->input, READ_BYTES, e))
        return -1;
    ssize_t n = read(0, b->input.data + b->input.len, READ_BYTES);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "read stdin");
    b->input.len += (size_t)n;
    b->input.data[b->input.len] = '\0';
    b->ended = n == 0;
    if (b->ended && b->input.len > 0 && b->input.data[b->input.len - 1] != '\n')
        return buf_add(&b->input, "\n", 1, e);
    return 0;
}

/* ---- answers ---- */

static int write_lines(struct client *c, struct err *e)
{
    const char *line;
    size_t n;
    while (client_line(c, &line, &n)) {
        scoped(buf) whole = { 0 };
        if (n == 0)
            continue;
        if (buf_add(&whole, line, n, e) || buf_add(&whole, "\n", 1, e))
            return -1;
        if (fd_write_all(1, whole.data, whole.len))
            return err_set(e, ERR_KERNEL, errno, "write to stdout");
    }
    return 0;
}

static int on_ready(struct bridge *b, int place, short revents, struct err *e)
{
    struct client *c = b->clients[place];
    int rc = client_ready(c, revents, e);
    if (rc == 0)
        rc = write_lines(c, e);
    const struct client_response *r = client_response(c);
    if (rc == 0 && b->starting == place && r->status != 0)
        b->starting = -1;
    if (rc == 0 && r->complete)
        b->busy[place] = false;
    return rc;
}

static bool any_busy(const struct bridge *b)
{
    for (int i = 0; i < LINES_AT_ONCE; i++)
        if (b->busy[i])
            return true;
    return false;
}

/* Stdin, and every connection with an answer on its way. */
static int wait_and_handle(struct bridge *b, int ms, struct err *e)
{
    struct pollfd polls[LINES_AT_ONCE + 2];
    int places[LINES_AT_ONCE + 2];
    nfds_t n = 0;
    polls[n] = (struct pollfd){ b->job->link_fd, POLLIN, 0 };
    places[n++] = -2;
    if (!b->ended && b->starting < 0 && free_place(b) >= 0) {
        polls[n] = (struct pollfd){ 0, POLLIN, 0 };
        places[n++] = -1;
    }
    for (int i = 0; i < LINES_AT_ONCE; i++) {
        if (!b->busy[i])
            continue;
        polls[n] = (struct pollfd){ client_fd(b->clients[i]), client_events(b->clients[i], true),
                                    0 };
        places[n++] = i;
    }
    if (poll(polls, n, ms) < 0 && errno != EINTR)
        return err_set(e, ERR_KERNEL, errno, "wait for messages");
    for (nfds_t i = 0; i < n; i++) {
        if (polls[i].revents == 0)
            continue;
        if (places[i] == -2)
            b->ended = true; /* main was told to end */
        else if (places[i] == -1 ? read_input(b, e) : on_ready(b, places[i], polls[i].revents, e))
            return -1;
    }
    return 0;
}

/* ---- the life of the process ---- */

/* Before a client waits for an answer: whether the service has the door. */
static int check_door(struct bridge *b, struct err *e)
{
    const struct client_request q = request_of(b, "POST", ping, sizeof ping - 1);
    if (prepare_place(b, 0, e) || client_ask(b->clients[0], &q, ASK_MS, e))
        return -1;
    int status = client_response(b->clients[0])->status;
    size_t n;
    (void)client_body(b->clients[0], &n);
    client_take(b->clients[0], n);
    if (status == 404)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "the door 'mcp' of the running service is off: 'doors.mcp = on' in its "
                       "settings file turns it on; 'belljar mcp --private' needs no service");
    if (status != 200)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the service refuses messages of MCP with status %d; 'belljar mcp "
                       "--private' needs no service",
                       status);
    return 0;
}

static int serve(struct bridge *b, struct err *e)
{
    uint64_t since = 0;
    while (!b->ended || b->input.len > 0 || any_busy(b)) {
        if (b->ended && !since)
            since = clock_ms();
        if (since && clock_ms() - since >= LAST_MS)
            return 0;
        if (send_lines(b, e) || wait_and_handle(b, since ? 50 : -1, e))
            return -1;
    }
    return 0;
}

static void end_session(struct bridge *b)
{
    struct err e;
    const struct client_request q = request_of(b, "DELETE", NULL, 0);
    int place = free_place(b);
    if (place >= 0 && prepare_place(b, place, &e) == 0)
        (void)!client_ask(b->clients[place], &q, ASK_MS, &e);
}

int bridge_run(const struct bridge_job *job)
{
    static struct bridge b;
    struct err e;
    char id[ID_SIZE];
    b.job = job;
    b.starting = -1;
    id_make("std_", id);
    (void)snprintf(b.headers, sizeof b.headers, "Belljar-Mcp-Stdio: %s\r\n", id);
    if (fd_keep_only(&job->link_fd, 1, &e) || privileges_drop(job->parent, job->uid, &e) ||
        privileges_confine(ROLE_CLIENT_KEEPER, NULL, &e) || check_door(&b, &e))
        return cli_fail(&e);
    int rc = serve(&b, &e);
    if (rc)
        (void)cli_fail(&e);
    end_session(&b);
    return rc ? 1 : 0;
}
