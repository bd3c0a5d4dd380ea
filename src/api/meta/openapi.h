/* api/meta/openapi.h — the OpenAPI 3.1 document, made from the tables of routes and fields.
 * Pure. */
#pragma once

#include "api/kernel/api.h"

[[nodiscard]] int openapi_build(const struct api_route *const *tables,
                                const struct limits *limit_default, const struct limits *limit_max,
                                struct buf *ret, struct err *e);
/* The JSON Schema of one table. `closed`: an unknown field is an error. */
json_t *openapi_fields(const struct api_field *fields, bool closed);
