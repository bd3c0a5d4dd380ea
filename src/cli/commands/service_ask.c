#include "cli/commands/service_ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/commands/plain.h"
#include "cli/commands/service_line.h"
#include "client/client.h"

/* A setup, a wake or a fork may take as long as its limits allow. */
enum { ANSWER_MS = 600000, ANSWER_MAX = 16 << 20 };

static void client_end(struct client **c)
{
    client_done(c);
}

int service_ask(const struct service_choice *s, const char *method, const char *path, json_t *body,
                json_t **ret, struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    if (service_line_open(s, &c, e)) {
        json_decref(body);
        return -1;
    }
    return service_line_ask(c, method, path, body, ret, e);
}

int service_delete(const struct service_choice *s, const char *path, struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    const struct client_request q = { .method = "DELETE", .path = path, .body_max = ANSWER_MAX };
    if (service_line_open(s, &c, e) || client_ask(c, &q, ANSWER_MS, e))
        return -1;
    return client_response(c)->status / 100 == 2 ? 0 : service_refusal(c, e);
}

int service_upload(const struct service_choice *s, const char *path, int fd, uint64_t bytes,
                   json_t **ret, struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    const struct client_request q = { .method = "POST",
                                      .path = path,
                                      .has_file = true,
                                      .file_fd = fd,
                                      .file_bytes = bytes,
                                      .body_max = ANSWER_MAX };
    return service_line_open(s, &c, e) || client_ask(c, &q, ANSWER_MS, e) ||
                   service_line_take(c, ret, e)
               ? -1
               : 0;
}

/* Only the bytes of a success are for the file: a refusal stays for client_refusal(). */
static int pass_on(struct client *c, int fd, struct err *e)
{
    size_t n;
    const char *bytes = client_body(c, &n);
    if (client_response(c)->status / 100 != 2)
        return 0;
    if (n > 0 && fd_write_all(fd, bytes, n))
        return err_set(e, ERR_KERNEL, errno, "write the file");
    client_take(c, n);
    return 0;
}

int service_download(const struct service_choice *s, const char *path, int fd, struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    const struct client_request q = { .method = "GET", .path = path, .body_max = ANSWER_MAX };
    if (service_line_open(s, &c, e) || client_send(c, &q, e))
        return -1;
    while (!client_response(c)->complete) {
        struct pollfd p = { .fd = client_fd(c), .events = client_events(c, true) };
        int n = poll(&p, 1, ANSWER_MS);
        if (n < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the service");
        if (n == 0)
            return err_set(e, ERR_UNAVAILABLE, 0, "the service does not answer");
        if (n > 0 && (client_ready(c, p.revents, e) || pass_on(c, fd, e)))
            return -1;
    }
    return client_response(c)->status / 100 == 2 ? 0 : service_refusal(c, e);
}

int service_path(const char *noun, const char *name, const char *verb, char **ret, struct err *e)
{
    scoped(buf) path = { 0 };
    if (strchr(name, '/') || !*name)
        return err_set(e, ERR_USAGE, 0, "'%s' is not a name: it is empty or has a '/'",
                       QUOTED(name));
    if (buf_addf(&path, e, "/v1/%s/", noun) || client_add_escaped(&path, name, e) ||
        (verb && buf_addf(&path, e, "/%s", verb)))
        return -1;
    *ret = strdup(buf_str(&path));
    return *ret ? 0 : err_no_memory(e, "a request to the service");
}

void service_print(const char *text, int width)
{
    scoped(buf) plain = { 0 };
    struct err e;
    if (plain_add_column(&plain, text, width, &e) == 0)
        (void)fwrite(plain.data, 1, plain.len, stdout);
}
