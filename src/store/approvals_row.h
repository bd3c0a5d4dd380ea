/* store/approvals_row.h — the room's own: the columns of an approval, in the order in which they are read. */
#pragma once

#define APPROVAL_COLUMNS                                                       \
    "seq, id, thread, run, tool, input, risks, reason, decision, decided_by, " \
    "decided_reason, edited_input, remember, created_ms, expires_ms, decided_ms"
