/* store/audit_retain.h — bounds the audit log, by size and by age: removes its oldest records, which are sealed, and
 * records that.
 * Runs in: the writer thread.
 *
 * The log then begins behind the removed records. The record "audit.removed" has their range, the
 * hash of the last of them, from which the chain goes on, and the number of a later record that
 * was sealed before. A record that is the newest one about an existing row is copied to the end:
 * see audit_rows.h. */
#pragma once

#include "store/audit_log.h"

/* The size of the log, which is counted once and then record by record. All zeros: not counted
 * yet. It is not valid any more if the transaction of a call is undone. */
struct audit_size {
    int64_t counted_to, bytes;
};

struct audit_bound {
    int64_t max_bytes;
    int64_t max_age_ms; /* 0: any age */
    int64_t sealed_seq; /* no record behind this one is removed; 0: nothing is sealed */
    int64_t now_ms;
    unsigned batch; /* at most so many records in one call */
};

/* Inside a transaction. Removes nothing while the log has at most max_bytes and no record is older
 * than max_age_ms. Then it goes down to three quarters of that size, or removes the records that
 * reach that age within the next hour, or eighth of it: each removal is a record, too. *ret_more:
 * another call is due at once. */
[[nodiscard]] int audit_retain(struct db *db, struct audit_size *size,
                               const struct audit_bound *bound, bool *ret_more,
                               int64_t *ret_removed, struct err *e);
