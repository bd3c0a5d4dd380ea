/* cli/commands/service_ask.h — one request to the running service, for commands that show its answer.
 * Runs in: the command. A process of root first becomes the owner of the data, for good, and reads the
 * answer without the rights of root. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/service_choice.h"

/* `body` NULL: none; its reference is taken over. The answer is 2xx and JSON; ERR_UNAVAILABLE if no
 * service runs. A new reference. */
[[nodiscard]] int service_ask(const struct service_choice *s, const char *method, const char *path,
                              json_t *body, json_t **ret, struct err *e);
/* The answer has no content. */
[[nodiscard]] int service_delete(const struct service_choice *s, const char *path, struct err *e);
/* The bytes of an answer go to the descriptor. */
[[nodiscard]] int service_download(const struct service_choice *s, const char *path, int fd,
                                   struct err *e);
/* Sends so many bytes of the descriptor; the answer is JSON. */
[[nodiscard]] int service_upload(const struct service_choice *s, const char *path, int fd,
                                 uint64_t bytes, json_t **ret, struct err *e);
/* "/v1/NOUN/NAME" or "/v1/NOUN/NAME/VERB", with the name escaped. */
[[nodiscard]] int service_path(const char *noun, const char *name, const char *verb, char **ret,
                               struct err *e);
/* Texts of an answer go to a terminal: see plain.h. "-" for NULL. */
void service_print(const char *text, int width);
