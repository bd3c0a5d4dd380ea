/* run/diagnosis_json.h — a diagnosis as JSON, and as text again. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "diagnose/core/diagnose.h"

/* {language, category, type, message, location, excerpt, frames, causes, suggestions, docs, sandbox, verdict}; null where a
 * place, an address or a replacement is not known. NULL when memory ran out. */
json_t *diagnosis_json(const struct diagnosis *d);
/* What diagnosis_json() made, as far as diagnosis_text() shows it. What is not of its shape is left out: it may come from
 * anybody. False: it is no object. */
bool diagnosis_from_json(const json_t *json, struct diagnosis *ret);
