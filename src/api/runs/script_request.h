/* api/runs/script_request.h — a request that becomes a run of a script of ours, beside the files of
 * the client: POST /v1/tests and POST /v1/checks. Runs in: keeper. Pure functions over JSON. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "settings/settings.h"

/* One request while it is made into that of a run; `field` is the field that an error names. */
struct script_request {
    json_t *body;
    const struct settings *settings;
    char *field;
    size_t field_size;
};

/* Always -1. */
int script_blame(const struct script_request *r, const char *field);
const char *script_text(const struct script_request *r, const char *key);
/* Calls `see` with the name of each file of the request. */
void script_see_files(const struct script_request *r, void (*see)(void *arg, const char *name),
                      void *arg);
/* Takes over the content. A name that the client has taken is an error. */
[[nodiscard]] int script_add_file(const struct script_request *r, const char *name, json_t *content,
                                  struct err *e);
/* Limits that are not given are those of a compiler, with this time, within the settings. */
void script_add_limits(const struct script_request *r, uint64_t wall_ms);
