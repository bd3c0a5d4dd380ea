/* store/approval_columns.h — private to the room: the columns of an approval, in the order of
 * reading. */
#pragma once

#define APPROVAL_COLUMNS                                                       \
    "seq, id, thread, run, tool, input, risks, reason, decision, decided_by, " \
    "decided_reason, edited_input, remember, created_ms, expires_ms, decided_ms, requester"
