/* api/kernel/reply.h — what an error looks like on each surface, and answers before there is a call. */
#pragma once

#include "api/kernel/api.h"

/* The style of a path that no route has. */
enum error_style error_style_of(const char *path);
/* The JSON of an error. NULL when memory ran out. */
json_t *error_json(enum error_style style, const char *code, const char *message,
                   const char *field);
/* Answers an exchange that has no call. Always -1, for http's head(). */
int reply_refusal(struct api *api, struct http_exchange *x, enum error_style style,
                  const struct err *e);
