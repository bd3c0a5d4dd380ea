/* Bytes of a client as a message of the Connect protocol, and the same bytes as frames of the helper in a
 * jar. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/e2b/frames.h"
#include "session/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_frames(const char *bytes, size_t size)
{
    struct helper_frame f;
    struct err e;
    size_t at = 0, before = 0;
    while (helper_frame_next(bytes, size, &at, &f, &e) > 0) {
        size_t room = GUEST_VALUES_MAX;
        if (at > size || at - before != HELPER_HEAD + f.n_json + f.n_bytes ||
            f.bytes + f.n_bytes != bytes + at || f.n_json > HELPER_JSON_MAX ||
            f.n_bytes > HELPER_BYTES_MAX)
            abort();
        json_decref(guest_json(f.json, f.n_json, &room));
        before = at;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *json;
    struct err e;
    size_t n;
    if (envelope_read(bytes, size, &json, &n, &e) == 0 &&
        (json != bytes + ENVELOPE_HEAD || n != size - ENVELOPE_HEAD))
        abort();
    read_frames(bytes, size);
    return 0;
}
