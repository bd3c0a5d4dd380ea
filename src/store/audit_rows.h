/* store/audit_rows.h — private to the room: the rows that records of the audit log are bound to.
 * Runs in: the writer thread; the check in any thread.
 *
 * A record about a run, an approval, a rule, a key or an artifact ends with the digest of the row
 * that it is about, as it is after the change: {…,"digest":"<hex>"}. The newest record of a subject
 * describes its row. So a row that was changed, removed or added without a record is found.
 *
 * If that record is removed (audit_retain.h), a copy of it with the same digest is appended. Its
 * kind ends with ".kept". */
#pragma once

#include "store/audit_log.h"

#define AUDIT_KEPT ".kept"

/* The detail of a record, with the digest if its kind has one. */
[[nodiscard]] int audit_rows_bind(struct db *db, const struct audit_record *r, struct buf *ret,
                                  struct err *e);
/* Compares every row with the newest record about it. Fills in rows, broken_seq and problem. */
[[nodiscard]] int audit_rows_check(struct db *db, struct audit_check *c, struct err *e);
/* 1: the record is the newest one about a row that exists, 0: no, -1. A row that is not as the
 * record says is described by a newer record, or by none. */
[[nodiscard]] int audit_rows_needs(struct db *db, const struct audit_record *r, struct err *e);
bool audit_rows_has_digest(const char *detail);
