/* api/sessions/replay.h — a session whose image cannot be woken: its cells run again in a new program.
 * Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"
#include "session/session.h"

extern const struct api_field replayed_reply[], replay_row_reply[];

/* Wakes the session, and replays its cells if its image cannot be used. Ends the call. */
void session_wake_or_replay(struct api_call *c, struct session *s);
