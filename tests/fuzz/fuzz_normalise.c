/* For any text that a model returns as code, unwrapping ends, stays within its memory, and makes
 * the text at most as much longer as the escapes of a dict literal can. */
#include <stdint.h>
#include <stdlib.h>

#include "api/artifacts/detect.h"
#include "base/auto.h"
#include "checks/risks.h"
#include "normalise/normalise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err e;
    const char *const names[] = { NULL, "README.md", "script" };
    for (size_t i = 0; i < 3; i++) {
        scoped(normalised) n = { 0 };
        const struct normalise_request q = { .text = text, .len = size, .file_name = names[i] };
        if (normalise(&q, &n, &e) == 0 &&
            (n.code.len > size + 1 || (n.source == SOURCE_NONE) != (n.language == NULL)))
            abort();
    }
    json_decref(detect_artifacts(text, size));
    json_decref(risks_find("python", text, size));
    return 0;
}
