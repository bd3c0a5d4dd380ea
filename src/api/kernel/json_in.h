/* api/kernel/json_in.h — untrusted bytes to JSON. Pure functions. Refused, with line and column:
 * invalid JSON, ill-formed UTF-8, a key that occurs twice in an object, nesting deeper than
 * JSON_DEPTH_MAX, more than JSON_VALUES_MAX values. Strings may hold NUL: read them with
 * json_string_length(), or validate the fields first (API-1). */
#pragma once

#include <jansson.h>

#include "base/err.h"

enum { JSON_DEPTH_MAX = 64, JSON_VALUES_MAX = 500000 };

/* Checks depth and number of values before any parser reads the bytes. */
[[nodiscard]] int json_in_bounds(const char *bytes, size_t n, struct err *e);

/* Any JSON. */
[[nodiscard]] int json_in_parse(const char *bytes, size_t n, json_t **ret, struct err *e);
/* An object. */
[[nodiscard]] int json_in_object(const char *bytes, size_t n, json_t **ret, struct err *e);
