/* examiner/packed_json.h — JSON as bytes that need no parser. Runs in: reader (out), keeper (in).
 * The keeper trusts no number in them: depth and sizes are bounded by the bytes that are there. */
#pragma once

#include <jansson.h>

#include "base/pack.h"

enum { PACKED_JSON_DEPTH = 24 };

/* The bytes that packed_json_put() needs; 0 if the value is nested too deeply. */
size_t packed_json_size(const json_t *value);
void packed_json_put(struct packer *p, const json_t *value);
/* A new reference; NULL if the bytes are malformed, and then the unpacker has failed. */
json_t *packed_json_get(struct unpacker *u);
