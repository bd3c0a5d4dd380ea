/* api/sessions/image_routes.h — sessions as files. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* Of POST /v1/sessions: with ?from=image the body is an exported session and goes to a file. */
int session_file_receive(const struct api *api, const struct api_identity *who,
                         struct http_request *q, size_t *body_max, struct err *e);
/* The body is there. */
void session_file_import(struct api_call *c);
