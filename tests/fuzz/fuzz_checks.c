/* For any output of the script of a check, the report ends, and the answer is one that a keeper
 * accepts. */
#include <stdint.h>
#include <stdlib.h>

#include "base/auto.h"
#include "checks/checks.h"
#include "examiner/checks.h"
#include "run/check_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct diagnoser *diagnoser;
    const struct source_file source = { "main.py", (const char *)data, size };
    struct err e;
    if (!diagnoser && diagnoser_new(&diagnoser, &e))
        abort();
    struct question q = { .check = true,
                          .input = { .printed = (const char *)data,
                                     .printed_len = size,
                                     .sources = &source,
                                     .n_sources = 1 } };
    json_t *json = checks_find(diagnoser, &q);
    if (!check_valid(json) || !check_outcome(VERDICT_OK, json))
        abort();
    json_decref(json);
    return 0;
}
