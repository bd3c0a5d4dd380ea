/* cli/repl/asking.h — questions about one session, over a connection to the service. Runs in: the
 * confined process of `belljar repl` and `belljar kernel`, because answers hold bytes that programs
 * wrote. */
#pragma once

#include <jansson.h>

#include "client/client.h"

enum { ANSWER_MAX = 64 << 20, SESSION_ID_SIZE = 64 };

/* Asks about the session `id`, or about all of them if it is "". Takes over the body. The answer, or
 * NULL: e says why. */
json_t *session_question(struct client *c, const char *id, const char *method, const char *what,
                         json_t *body, struct err *e);
/* Creates a session with this body, which it takes over. */
[[nodiscard]] int session_create(struct client *c, json_t *body, char ret_id[SESSION_ID_SIZE],
                                 struct err *e);
/* The number of the cell that runs, or of the last one; -1: e says why. */
json_int_t session_cell_number(struct client *c, const char *id, struct err *e);
/* Sends a cell, whose events then come line by line. */
[[nodiscard]] int session_send_cell(struct client *c, const char *id, const json_t *body,
                                    struct err *e);
