/* api/kernel/reply.h — the error object of each surface, and answers before there is a call.
 * Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* The style of a path that no route has. */
enum error_style error_style_of(const char *path);
struct error_parts {
    const char *code; /* for programs: "bad_request" */
    int status;
    const char *message;
    const char *field; /* of the request, or NULL */
};
/* The JSON of an error. NULL if memory ran out. */
json_t *error_json(enum error_style style, const struct error_parts *p);
/* Its fields, by style. An error of /execute has the fields of a successful answer. */
extern const struct api_field *const error_replies[STYLE_COUNT_];
extern const struct api_field execute_reply[];
/* Frees a call that was answered. */
void call_free(struct api_call *c);
/* Answers an exchange that has no call. Always -1, for head() of http. */
int reply_refusal(struct api *api, struct http_exchange *x, enum error_style style,
                  const struct err *e);
