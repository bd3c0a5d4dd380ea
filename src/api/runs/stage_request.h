/* api/runs/stage_request.h — the field "stages" of a request. Runs in: keeper. Pure functions.
 *
 * STAGE_REQUEST-1 The code of every stage is a file of the bundle: so rules, the digest and the
 *                 person who approves the run see all of it. */
#pragma once

#include "api/kernel/api.h"
#include "engine/run.h"

extern const struct api_field stage_fields[];

/* The stages without their limits, into spec->stages. ret_field gets the field of an error. */
[[nodiscard]] int stages_from_json(const json_t *list, struct run_spec *spec, char *ret_field,
                                   size_t field_size, struct err *e);
/* The program of one stage. */
const json_t *stage_code(const json_t *stage);
/* The limits of the stages. Limits that a stage does not have are those of the run. Afterwards the
 * limits of the run are the largest of its stages, which its turn waits for. */
[[nodiscard]] int stages_take_limits(const struct settings *settings, const json_t *list,
                                     struct run_spec *spec, char *ret_field, size_t field_size,
                                     struct err *e);
/* In the form of a request, without code: that is in the files. */
json_t *stages_to_json(const struct run_spec *spec);
