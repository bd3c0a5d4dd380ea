/* api/sessions/branch_fields.h — the fields of the answers about branches. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

extern const char *const branch_outcome_words[];
extern const struct api_field branches_reply[], branch_event_reply[];
