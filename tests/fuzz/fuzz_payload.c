/* Whatever a model hands over as code: unwrapping ends, stays within its memory, and never makes it longer than a dict
 * literal's escapes can. */
#include <stdint.h>
#include <stdlib.h>

#include "api/detect.h"
#include "api/payload.h"
#include "api/risks.h"
#include "base/auto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err e;
    auto(payload) p = { 0 };
    if (payload_unwrap(text, size, &p, &e) == 0 && p.code.len > size)
        abort();
    json_decref(detect_artifacts(text, size));
    json_decref(risks_find("python", text, size));
    return 0;
}
