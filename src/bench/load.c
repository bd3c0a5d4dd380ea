#include "bench/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/clock.h"
#include "bench/die.h"
#include "client/client.h"

enum { PATIENCE_MS = 60000, BODY_MAX = 1 << 20 };

struct load_client {
    struct client *client;
    uint64_t sent_us;
};

/* The request for a program and the required bytes of its answer. A search for bytes takes less CPU
 * time from the measured cores than parsing. */
struct load_request {
    char *body;
    char *says; /* "stdout":"1\n" */
};

static void load_request_done(struct load_request *q)
{
    free(q->body);
    free(q->says);
}

static void request_init(struct load_request *ret, const struct bench_program *p)
{
    json_t *body = json_pack("{s:s, s:s#}", "language", p->language->name, "code",
                             (const char *)p->code, p->code_len);
    json_t *says = json_pack("{s:s}", "stdout", p->says);
    ret->body = json_dumps(body, JSON_COMPACT);
    ret->says = json_dumps(says, JSON_COMPACT);
    json_decref(body);
    json_decref(says);
    if (!ret->body || !ret->says)
        bench_dief("no memory for a request");
    size_t n = strlen(ret->says) - 2; /* without its braces */
    memmove(ret->says, ret->says + 1, n);
    ret->says[n] = '\0';
}

static void load_client_open(struct load_client *v, unsigned port)
{
    struct err e;
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons((uint16_t)port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        bench_die("connect to the service", NULL);
    if (client_adopt(&v->client, fd, &e))
        bench_die("connect to the service", &e);
}

struct load_client *load_client_new(unsigned port)
{
    struct load_client *v = calloc(1, sizeof *v);
    if (!v)
        bench_die("memory", NULL);
    load_client_open(v, port);
    return v;
}

void load_client_free(struct load_client *v)
{
    if (v)
        client_free(v->client);
    free(v);
}

/* Most requests are written at once; poll() says when the rest of another can follow. */
static void send_request(struct load_client *v, const char *method, const char *path,
                         const char *json)
{
    struct err e = { 0 };
    const struct client_request request = { .method = method,
                                            .path = path,
                                            .json = json,
                                            .json_len = json ? strlen(json) : 0,
                                            .body_max = BODY_MAX };
    v->sent_us = clock_us();
    if (client_send(v->client, &request, &e) || client_ready(v->client, POLLOUT, &e))
        bench_die(path, &e);
}

/* The time from the request to the last byte of its answer. */
static double await_answer(struct load_client *v)
{
    struct err e = { 0 };
    while (!client_response(v->client)->complete) {
        struct pollfd poll_one = { .fd = client_fd(v->client),
                                   .events = client_events(v->client, true) };
        if (poll(&poll_one, 1, PATIENCE_MS) <= 0)
            bench_dief("a request was not answered within %d ms", PATIENCE_MS);
        if (client_ready(v->client, poll_one.revents, &e))
            bench_die("a request", &e);
    }
    return (double)(clock_us() - v->sent_us) / 1000;
}

double load_client_ask(struct load_client *v, const char *method, const char *path,
                       const char *json, json_t **ret)
{
    size_t n;
    send_request(v, method, path, json);
    double ms = await_answer(v);
    int status = client_response(v->client)->status;
    const char *body = client_body(v->client, &n);
    *ret = json_loadb(body, n, 0, NULL);
    if (status < 200 || status > 299 || !*ret)
        bench_dief("%s %s was answered with %d: %.*s", method, path, status,
                   (int)(n < 1500 ? n : 1500), body);
    return ms;
}

json_t *load_client_get(struct load_client *v, const char *path)
{
    json_t *got;
    (void)load_client_ask(v, "GET", path, NULL, &got);
    return got;
}

/* --- runs --- */

static void count_start(struct starts *s, const char *body, size_t n)
{
    static const char field[] = "\"start\":\"";
    const char *at = memmem(body, n, field, sizeof field - 1);
    if (!at)
        s->untold++;
    else if (strncmp(at + sizeof field - 1, "warm\"", 5) == 0)
        s->warm++;
    else if (strncmp(at + sizeof field - 1, "hatched\"", 8) == 0)
        s->hatched++;
    else
        s->cold++;
}

static void judge(const struct load_client *v, const struct load_request *q, struct starts *starts)
{
    static const char ok[] = "\"verdict\":\"ok\"";
    size_t n;
    int status = client_response(v->client)->status;
    const char *body = client_body(v->client, &n);
    if (status != 200 || !memmem(body, n, ok, sizeof ok - 1) ||
        !memmem(body, n, q->says, strlen(q->says)))
        bench_dief("a run was answered with %d: %.*s", status, (int)(n < 1500 ? n : 1500), body);
    if (starts)
        count_start(starts, body, n);
}

double load_client_run(struct load_client *v, const struct bench_program *p, struct starts *starts)
{
    scoped(load_request) q = { 0 };
    request_init(&q, p);
    send_request(v, "POST", "/v1/runs", q.body);
    double ms = await_answer(v);
    judge(v, &q, starts);
    return ms;
}

/* The state of one load_run(). */
struct load_state {
    const struct load *load;
    struct load_result *result;
    struct load_request request;
    struct load_client *clients;
    struct pollfd *polls;
    size_t sent, waiting, answered;
    uint64_t begin_us, end_us; /* end 0: none */
    bool slack;                /* a client has nothing to do */
};

static bool crowd_may_send(const struct load_state *c)
{
    bool more = c->load->at_most == 0 || c->sent < c->load->at_most;
    bool time = c->end_us == 0 || clock_us() < c->end_us || c->answered < c->load->at_least;
    return more && time;
}

static void crowd_send(struct load_state *c, size_t i)
{
    send_request(&c->clients[i], "POST", "/v1/runs", c->request.body);
    c->sent++;
    c->waiting++;
    c->polls[i] = (struct pollfd){ .fd = client_fd(c->clients[i].client),
                                   .events = client_events(c->clients[i].client, true) };
}

static void crowd_hear(struct load_state *c, size_t i)
{
    struct err e = { 0 };
    struct load_client *v = &c->clients[i];
    if (client_ready(v->client, c->polls[i].revents, &e))
        bench_die("a run", &e);
    if (!client_response(v->client)->complete) {
        c->polls[i].events = client_events(v->client, true);
        return;
    }
    series_add(&c->result->ms, (double)(clock_us() - v->sent_us) / 1000);
    judge(v, &c->request, &c->result->starts);
    c->waiting--;
    c->answered++;
    c->polls[i].fd = -1;
    if (!c->slack && crowd_may_send(c)) {
        crowd_send(c, i);
    } else if (!c->slack) {
        c->slack = true;
        c->result->busy_runs += c->answered;
        c->result->busy_s += (double)(clock_us() - c->begin_us) / 1e6;
    }
}

void load_run(const struct load *l, struct load_result *result)
{
    struct load_state c = { .load = l, .result = result };
    c.clients = calloc(l->clients, sizeof *c.clients);
    c.polls = calloc(l->clients, sizeof *c.polls);
    if (!c.clients || !c.polls)
        bench_die("memory", NULL);
    request_init(&c.request, l->program);
    for (size_t i = 0; i < l->clients; i++) {
        load_client_open(&c.clients[i], l->port);
        c.polls[i].fd = -1;
    }
    c.begin_us = clock_us();
    c.end_us = l->seconds > 0 ? c.begin_us + (uint64_t)(l->seconds * 1e6) : 0;
    for (size_t i = 0; i < l->clients && crowd_may_send(&c); i++)
        crowd_send(&c, i);
    while (c.waiting > 0) {
        if (poll(c.polls, l->clients, PATIENCE_MS) <= 0)
            bench_dief("no run was answered within %d ms", PATIENCE_MS);
        for (size_t i = 0; i < l->clients; i++)
            if (c.polls[i].revents)
                crowd_hear(&c, i);
    }
    result->seconds += (double)(clock_us() - c.begin_us) / 1e6;
    for (size_t i = 0; i < l->clients; i++)
        client_free(c.clients[i].client);
    load_request_done(&c.request);
    free(c.clients);
    free(c.polls);
}

/* --- requests at a pace --- */

static void paced_hear(struct load_client *v, struct pollfd *p, const struct load_paced *l,
                       size_t *left, uint64_t *due_us, struct series *ms)
{
    struct err e = { 0 };
    size_t n;
    if (client_ready(v->client, p->revents, &e))
        bench_die("a request at a pace", &e);
    p->events = client_events(v->client, true);
    if (!client_response(v->client)->complete)
        return;
    series_add(ms, (double)(clock_us() - v->sent_us) / 1000);
    const char *body = client_body(v->client, &n);
    if (client_response(v->client)->status != 200 || !memmem(body, n, l->says, strlen(l->says)))
        bench_dief("a request at a pace was answered with %d: %.*s",
                   client_response(v->client)->status, (int)(n < 1500 ? n : 1500), body);
    p->fd = -1;
    (*left)--;
    *due_us = v->sent_us + l->every_us;
}

/* Sends all requests that are due. Returns the milliseconds until the next one. */
static int paced_send(struct load_client *const *clients, struct pollfd *polls,
                      const struct load_paced *l, const size_t *left, const uint64_t *due_us)
{
    uint64_t wait_us = (uint64_t)PATIENCE_MS * 1000;
    for (size_t i = 0; i < l->clients; i++) {
        uint64_t now = clock_us();
        if (polls[i].fd >= 0 || left[i] == 0)
            continue;
        if (due_us[i] > now) {
            wait_us = due_us[i] - now < wait_us ? due_us[i] - now : wait_us;
            continue;
        }
        send_request(clients[i], "POST", l->paths[i], l->json);
        polls[i] = (struct pollfd){ .fd = client_fd(clients[i]->client),
                                    .events = client_events(clients[i]->client, true) };
    }
    return (int)((wait_us + 999) / 1000);
}

void load_paced(const struct load_paced *l, struct series *ms)
{
    struct load_client *clients[LOAD_PACED_MAX];
    struct pollfd polls[LOAD_PACED_MAX];
    uint64_t due_us[LOAD_PACED_MAX], begin = clock_us();
    size_t left[LOAD_PACED_MAX], end = ms->n + l->clients * l->each;
    if (l->clients > LOAD_PACED_MAX)
        bench_dief("%zu clients at a pace: at most %d", l->clients, LOAD_PACED_MAX);
    for (size_t i = 0; i < l->clients; i++) {
        clients[i] = load_client_new(l->port);
        polls[i] = (struct pollfd){ .fd = -1 };
        due_us[i] = begin + l->every_us * i / l->clients;
        left[i] = l->each;
    }
    while (ms->n < end) {
        int wait_ms = paced_send(clients, polls, l, left, due_us);
        if (poll(polls, l->clients, wait_ms) == 0 && wait_ms >= PATIENCE_MS)
            bench_dief("no request was answered within %d ms", PATIENCE_MS);
        for (size_t i = 0; i < l->clients; i++)
            if (polls[i].fd >= 0 && polls[i].revents)
                paced_hear(clients[i], &polls[i], l, &left[i], &due_us[i], ms);
    }
    for (size_t i = 0; i < l->clients; i++)
        load_client_free(clients[i]);
}
