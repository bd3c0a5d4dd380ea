/* cli/jupyter/contents.h — answers of the service as contents of Jupyter's messages. Runs in: the
 * forwarder. Pure functions. Each takes the bytes of guests as data. */
#pragma once

#include <jansson.h>

#include "base/err.h"

/* The content of the message that an event of a cell becomes, and its type. NULL: none. */
json_t *content_of_event(const json_t *event, const char **ret_type);
/* The content of an error message. */
json_t *content_of_failure(const char *name, const char *message, const char *traceback);
/* The error of a cell that failed without an error of its code; NULL if it did not fail. */
json_t *content_of_end(const json_t *result);
/* Replies to questions. */
json_t *content_of_completion(const json_t *answer, json_int_t cursor);
json_t *content_of_inspection(const json_t *answer);
/* The answer of GET /cells, as the request chooses them: tail, range or search. */
json_t *content_of_history(const json_t *cells, const json_t *request);
