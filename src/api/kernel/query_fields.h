/* api/kernel/query_fields.h — the query of a request, after the '?'. Pure; callers pass the
 * time. */
#pragma once

#include "api/kernel/api.h"

/* Checks names and values against the table (NULL: no name is accepted). A name that is unknown or
 * occurs twice, or a value out of bounds, is an error. */
[[nodiscard]] int query_check(const struct http_request *q, const struct api_field *fields,
                              bool lenient, char *ret_field, size_t field_size, struct err *e);
