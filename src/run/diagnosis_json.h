/* run/diagnosis_json.h — a diagnosis as JSON, and back. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "diagnose/core/diagnose.h"

/* {language, category, type, message, location, excerpt, frames, causes, further_errors,
 * suggestions, values, docs, sandbox, verdict}; unknown values are null. NULL if memory ran out. */
json_t *diagnosis_json(const struct diagnosis *d);
/* The inverse of diagnosis_json(), for the fields that diagnosis_text() shows. The JSON may come
 * from anywhere: fields of another shape are ignored. False: it is not an object. */
bool diagnosis_from_json(const json_t *json, struct diagnosis *ret);
