#include "cli/repl/asking.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "cli/service_choice.h"

enum { ANSWER_MS = 60000 };

json_t *session_question(struct client *c, const char *id, const char *method, const char *what,
                         json_t *body, struct err *e)
{
    char path[256];
    json_auto_t *held = body;
    autofree char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    (void)snprintf(path, sizeof path, "/v1/sessions%s%s%s", id[0] ? "/" : "", id, what);
    const struct client_request q = { .method = method,
                                      .path = path,
                                      .json = text,
                                      .json_len = text ? strlen(text) : 0,
                                      .body_max = ANSWER_MAX };
    size_t len;
    if (client_ask(c, &q, ANSWER_MS, e))
        return NULL;
    if (client_response(c)->status / 100 != 2) {
        (void)service_refusal(c, e);
        return NULL;
    }
    const char *answer = client_body(c, &len);
    json_t *o = json_loadb(answer, len, JSON_ALLOW_NUL, NULL);
    if (!o)
        (void)err_set(e, ERR_PROTOCOL, 0, "the service gave an answer that is not JSON");
    return o;
}

json_int_t session_cell_number(struct client *c, const char *id, struct err *e)
{
    json_auto_t *o = session_question(c, id, "GET", "", NULL, e);
    const json_t *running = json_object_get(o, "cell");
    const json_t *number = json_is_integer(running) ? running : json_object_get(o, "cells");
    if (o && json_integer_value(number) <= 0)
        return err_set(e, ERR_PROTOCOL, 0, "the service does not know the number of the cell");
    return o ? json_integer_value(number) : -1;
}

int session_create(struct client *c, json_t *body, char ret_id[SESSION_ID_SIZE], struct err *e)
{
    json_auto_t *o = session_question(c, "", "POST", "", body, e);
    const char *id = json_string_value(json_object_get(o, "id"));
    if (!o)
        return -1;
    if (!id || strlen(id) >= SESSION_ID_SIZE || strpbrk(id, "/?#% "))
        return err_set(e, ERR_PROTOCOL, 0, "the service gave the session no usable id");
    (void)snprintf(ret_id, SESSION_ID_SIZE, "%s", id);
    return 0;
}

int session_send_cell(struct client *c, const char *id, const json_t *body, struct err *e)
{
    char path[128];
    autofree char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    (void)snprintf(path, sizeof path, "/v1/sessions/%s/exec", id);
    if (!text)
        return err_set(e, ERR_BAD_REQUEST, 0, "the code is not UTF-8");
    const struct client_request q = { .method = "POST",
                                      .path = path,
                                      .accept = "application/x-ndjson",
                                      .json = text,
                                      .json_len = strlen(text),
                                      .body_max = ANSWER_MAX };
    return client_send(c, &q, e);
}
