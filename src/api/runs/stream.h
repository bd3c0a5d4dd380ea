/* api/runs/stream.h — a run as a stream of events: from its beginning or from where a client left off, to its end.
 * Runs in: keeper.
 *
 * Invariants
 * E1 The number of an event depends on the run alone: 1 is "started", 1 + n the n-th piece of output, records + 4 "done". A
 *    client that comes back with Last-Event-ID gets what it has not seen, once.
 * E2 What a client does not take stays in the journal: a stream holds at most STREAM_QUEUED bytes of its own. */
#pragma once

#include "api/kernel/api.h"

enum stream_format { STREAM_NDJSON, STREAM_SSE, STREAM_RAW };
enum { STREAM_QUEUED = 64 << 10 };

/* Whether the client asked for events, by Accept or by `wanted`; and in which form. */
bool stream_asked(const struct api_call *c, bool wanted, enum stream_format *ret_format);
/* One event in its form. Takes the reference. */
void stream_send(struct api_call *c, enum stream_format format, uint64_t seq, const char *name,
                 json_t *event);
/* The number of the "done" of a run that is over. */
uint64_t stream_last(const struct journal *j);
const char *stream_content_type(enum stream_format format);

/* Follows a run that is alive; the call is the stream's from here on. `cancel`: the run ends when the client goes. */
void stream_follow(struct api_call *c, struct run *x, enum stream_format format, uint64_t after,
                   bool cancel);
/* Replays one that is over. The journal is taken over; the result (a reference) is the "done" event's. */
void stream_replay(struct api_call *c, struct journal *j, json_t *result, enum stream_format format,
                   uint64_t after);
/* One stream byte for byte, as much as there is now, of a run that is alive or of a journal (taken over). */
void stream_raw(struct api_call *c, struct run *x, struct journal *j, enum journal_kind kind);
