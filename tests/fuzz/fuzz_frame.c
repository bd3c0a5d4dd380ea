/* Packets of a session's program: u16 length, bytes, and so on. They go the way of frames in the
 * keeper: read, joined to messages, turned into events, and collected for the answer of a cell. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "session/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_fields(const struct frame_message *m)
{
    size_t at = 0, bytes = 0;
    struct frame_field f;
    while (frame_next_field(buf_str(&m->data), m->data.len, &at, &f) > 0)
        bytes += f.n;
    if (bytes > m->data.len || at > m->data.len)
        abort();
}

static void take_packet(struct frame_message *m, const char *packet, size_t n)
{
    struct session_frame f;
    struct err e;
    bool whole = false;
    if (frame_read(packet, n, &f, &e))
        return;
    if (frame_message_add(m, &f, &whole, &e))
        m->open = false;
    if (m->data.len > MESSAGE_IN_MAX)
        abort();
    if (whole) {
        read_fields(m);
        json_decref(event_json(m));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(frame_message) m = { 0 };
    scoped(journal) j = { 0 };
    struct err e;
    journal_init(&j, -1);
    for (size_t at = 0; at + 2 <= size;) {
        size_t n = (size_t)(data[at] | data[at + 1] << 8);
        at += 2;
        n = n < size - at ? n : size - at;
        take_packet(&m, (const char *)data + at, n);
        if (j.bytes + n < JOURNAL_MEMORY / 2 && journal_add(&j, JOURNAL_FRAME, 0, data + at, n, &e))
            abort();
        at += n;
    }
    json_auto_t *answer = json_object();
    size_t room = GUEST_VALUES_MAX;
    event_add_outputs(answer, &j, &room);
    if (!json_is_array(json_object_get(answer, "displays")) || !json_object_get(answer, "error"))
        abort();
    return 0;
}
