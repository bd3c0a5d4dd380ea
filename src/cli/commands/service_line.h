/* cli/commands/service_line.h — one connection to the running service for one request after another.
 * Runs in: the command. A process of root becomes the owner of the data once it is connected, for
 * good, and reads the answers without the rights of root. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "cli/service_choice.h"

struct client;

/* ERR_UNAVAILABLE if no service runs. */
[[nodiscard]] int service_line_open(const struct service_choice *s, struct client **ret,
                                    struct err *e);
/* `body` NULL: none; its reference is taken over. The answer is 2xx and JSON, a new reference. */
[[nodiscard]] int service_line_ask(struct client *c, const char *method, const char *path,
                                   json_t *body, json_t **ret, struct err *e);

/* The answer of a complete response, or its refusal as an error. */
[[nodiscard]] int service_line_take(const struct client *c, json_t **ret, struct err *e);

/* 0: the work is done. -1: ERR_UNAVAILABLE means that the service is gone. */
typedef int service_work(struct client *c, void *context, struct err *e);

/* Does the work in a child process. If the service ends meanwhile, waits for the next one and does the
 * work again: only this process has the right to connect anew. Returns an exit status. */
[[nodiscard]] int service_follow(const struct service_choice *s, service_work *work, void *context,
                                 struct err *e);
