/* session/events.h — the messages of a session program as events and as the answer of a cell.
 * Runs in: keeper.
 *
 * Invariants
 * EVENTS-1 Everything here is the word of a guest: it is data of an answer, and decides nothing.
 *          Text that is not UTF-8 is repaired, and JSON that is not valid is text.
 * EVENTS-2 An answer has at most GUEST_VALUES_MAX values of JSON that a guest wrote. The rest of its
 *          JSON is text. */
#pragma once

#include <jansson.h>

#include "run/journal.h"
#include "session/frame.h"

/* The name of the event of a message, or NULL if clients do not see it. */
const char *event_name(uint16_t type);
/* A value of JSON has two bytes in a message, and up to 300 in our memory. */
enum { GUEST_VALUES_MAX = 100000 };
/* Parses the JSON of a guest. NULL if it is not valid, or may have more than *room values; *room
 * shrinks by their number. */
json_t *guest_json(const char *bytes, size_t n, size_t *room);

/* The event of a complete message, without its number. NULL if clients do not see it, or memory ran
 * out. */
json_t *event_json(const struct frame_message *m);

/* Turns the frame records of a journal into messages again. */
struct event_reader {
    struct frame_message message;
};
void event_reader_done(struct event_reader *r);
/* Takes the bytes of a frame record. The event, once its message is complete; otherwise NULL. */
json_t *event_reader_next(struct event_reader *r, const struct buf *record);

/* Adds the fields of a cell to its answer: result, execution_count, displays, error, notes. *room is
 * for the values of JSON in the whole answer. */
void event_add_outputs(json_t *answer, const struct journal *j, size_t *room);
