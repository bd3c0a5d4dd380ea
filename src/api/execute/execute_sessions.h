/* api/execute/execute_sessions.h — /execute with the header X-Session-ID: a cell of a session that
 * the client names. Runs in: keeper.
 *
 * Invariants
 * EXECSESS-1 An id names a session of the key of the caller, and no other key's session. */
#pragma once

#include "api/kernel/api.h"

/* The id in the header, or NULL. */
const char *execute_session_id(const struct api_call *c);
/* Takes over the call, and a reference to its body if a thread has parsed it; otherwise NULL. */
void execute_in_session(struct api_call *c, json_t *body);
