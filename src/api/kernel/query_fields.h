/* api/kernel/query_fields.h — what stands behind the '?'. Pure but for the clock that callers hand in. */
#pragma once

#include "api/kernel/api.h"

/* Names and values against the table (NULL: none is accepted). What is unknown, twice or out of bounds is refused. */
[[nodiscard]] int query_check(const struct http_request *q, const struct api_field *fields,
                              bool lenient, char *ret_field, size_t field_size, struct err *e);
