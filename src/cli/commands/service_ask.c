#include "cli/commands/service_ask.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/commands/service_db.h"
#include "cli/run/remote.h"
#include "client/client.h"

/* A setup, a wake or a fork may take as long as its limits allow. */
enum { ANSWER_MS = 600000, ANSWER_MAX = 16 << 20 };

static void client_end(struct client **c)
{
    client_done(c);
}

int service_ask(const char *state, const char *method, const char *path, json_t *body, json_t **ret,
                struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    autofree char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    bool failed = body && !text;
    json_decref(body);
    if (failed)
        return err_no_memory(e, "a request to the service");
    const struct client_request q = { .method = method,
                                      .path = path,
                                      .json = text,
                                      .json_len = text ? strlen(text) : 0,
                                      .body_max = ANSWER_MAX };
    int rc = remote_connect(state, &c, e);
    if (rc == REMOTE_NONE)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "no service is running: start one with 'belljar serve'");
    if (rc || service_db_become_owner(state, e) || client_ask(c, &q, ANSWER_MS, e))
        return -1;
    if (client_response(c)->status / 100 != 2)
        return client_refusal(c, e);
    size_t len;
    const char *bytes = client_body(c, &len);
    *ret = json_loadb(bytes, len, 0, NULL);
    return *ret ? 0 : err_set(e, ERR_PROTOCOL, 0, "the service sent no JSON");
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
    int n = 0;
    for (const char *p = text ? text : "-"; *p; p++, n++)
        (void)putchar((unsigned char)*p < ' ' || *p == 0x7F ? '?' : *p);
    for (; n < width; n++)
        (void)putchar(' ');
}
