/* api/runs/result_fields.h — the fields of answers that several surfaces share. Pure data: the
 * OpenAPI document is made from it, and tests check real answers against it. */
#pragma once

#include "api/kernel/api.h"
#include "spec/verdict.h"

extern const char *const run_state_words[]; /* NULL-terminated */

extern const struct api_field result_reply[], connection_reply[], network_reply[], run_row_reply[],
    usage_reply[], isolation_reply[], timings_reply[], output_file_reply[];
extern const struct api_field diagnosis_reply[]; /* diagnosis_fields.c */

/* clang-format off */
/* Made by result_add_journal(). */
#define STREAM_ROWS                                                                               \
    { "stdout", FIELD_DATA,                                                                       \
      .help = "the output of the program, up to 1 MiB; not in events" },                          \
    { "stderr", FIELD_DATA, .help = "like stdout, for stderr" },                                  \
    { "stdout_base64", FIELD_STRING, .help = "the exact bytes, if they are not UTF-8" },          \
    { "stderr_base64", FIELD_STRING, .help = "the exact bytes, if they are not UTF-8" },          \
    { "stdout_cut", FIELD_BOOL,                                                                   \
      .help = "true if stdout is only the beginning: GET /v1/runs/{id}/stdout returns all" },     \
    { "stderr_cut", FIELD_BOOL, .help = "like stdout_cut, for stderr" }
/* clang-format on */
