/* For any output of a test runner, the report ends, stays within its bounds, and can be sent. The
 * first byte chooses the runner. */
#include <stdint.h>
#include <stdlib.h>

#include "base/auto.h"
#include "run/tests_json.h"
#include "suite/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(suite_report) r = { 0 };
    if (size == 0)
        return 0;
    int which = TEST_RUNNER_NONE + 1 + data[0] % (TEST_RUNNER_COUNT_ - 1);
    const struct suite_runner *runner = suite_runner((enum test_runner)which);
    suite_read(runner, (const char *)data + 1, size - 1, &r);
    json_t *json = tests_json(runner, &r, NULL);
    if (r.n > SUITE_CASES_MAX || !tests_valid(json))
        abort();
    json_decref(json);
    return 0;
}
