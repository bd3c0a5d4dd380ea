/* api/runs/stream.h — a run as a stream of events: from its beginning, or from the last event that
 * the client has, to its end. Runs in: keeper.
 *
 * Invariants
 * STREAM-1 The number of an event depends only on the run: 1 is "started", 1 + n the n-th piece of
 *          output, records + 4 "done". A client that reconnects with Last-Event-ID gets every later
 *          event exactly once.
 * STREAM-2 Output that a client has not read stays in the journal: a stream buffers at most
 *          STREAM_QUEUED bytes. This holds also for an answer with the streams of many runs. */
#pragma once

#include "api/kernel/api.h"

enum stream_format { STREAM_NDJSON, STREAM_SSE, STREAM_RAW };
enum { STREAM_QUEUED = 64 << 10, STREAM_KEEP_ALIVE_MS = 15000 };

extern const struct api_field event_reply[];

/* Whether the client wants events, by the header Accept or by `wanted`, and in which format. */
bool stream_asked(const struct api_call *c, bool wanted, enum stream_format *ret_format);
/* Reads the number of the last event that the client has. */
[[nodiscard]] int stream_read_seq(const char *text, uint64_t *ret, struct err *e);
/* One event in its format. Takes over the reference. */
void stream_send(struct api_call *c, enum stream_format format, uint64_t seq, const char *name,
                 json_t *event);
/* Writes an event without content, if nothing else is on its way to the client. */
void stream_keep_alive(struct api_call *c, enum stream_format format);
/* The number of "done" for a run that is over. */
uint64_t stream_last(const struct journal *j);
const char *stream_content_type(enum stream_format format);

/* Follows a current run, and ends the call. `cancel`: the run is cancelled if the client goes
 * away. */
void stream_follow(struct api_call *c, struct run *x, enum stream_format format, uint64_t after,
                   bool cancel);
/* Replays a run that is over, and ends the call. Takes over the journal and the result (a
 * reference), which belongs to the event "done". */
void stream_replay(struct api_call *c, struct journal *j, json_t *result, enum stream_format format,
                   uint64_t after);
/* The bytes of one stream so far, or the part of them that the header Range asks for, of a current
 * run or of a journal (taken over). Ends the call. */
void stream_raw(struct api_call *c, struct run *x, struct journal *j, enum journal_kind kind);

/* ---- a part of an answer with many runs (streams.c) ---- */
struct stream;
struct stream_owner {
    /* The stream in this slot is over, and about to be freed. */
    void (*on_end)(struct stream_owner *o, unsigned slot);
};
/* The same as stream_follow() and stream_replay(), but each event names its run, and the call goes
 * on. NULL if memory ran out, or if the stream is over already: then on_end() was called. */
struct stream *stream_join(struct stream_owner *o, unsigned slot, struct api_call *c, struct run *x,
                           enum stream_format format, uint64_t after);
struct stream *stream_join_replay(struct stream_owner *o, unsigned slot, struct api_call *c,
                                  const char *id, struct journal *j, json_t *result,
                                  enum stream_format format, uint64_t after);
/* Sends more, if the client reads. */
void stream_pump(struct stream *s);
/* Frees a stream that is not over. on_end() is not called. */
void stream_leave(struct stream *s);
