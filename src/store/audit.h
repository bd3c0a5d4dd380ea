/* store/audit.h — the audit log: append-only, each record bound to all before it by a hash.
 * Runs in: the writer thread; verification in any.
 * hash = BLAKE2b-256(previous hash, seq, time, kind, subject, actor, detail), each after its length; lengths and numbers are
 * 8 bytes, most significant first; before the first record the hash is 32 zeros; seq goes up by one from 1. Changing, removing,
 * inserting or reordering a record breaks the chain from there on; cutting the tail off shows against a head noted
 * elsewhere. */
#pragma once

#include "store/db.h"

enum { AUDIT_HASH_HEX = 65 };

struct audit_record {
    int64_t seq, time_ms;
    const char *
        kind; /* "run.accepted", "run.finished", "approval.decided", "key.added", "service.started", ... */
    const char *subject; /* run id, approval id, key name; "" for none */
    const char *actor;   /* API key's name, "unix:UID", "anonymous", "service" */
    const char *detail;  /* JSON object */
    const char *hash;    /* hex */
};

/* Uses time_ms, kind, subject, actor, detail. */
[[nodiscard]] int audit_append(struct db *db, const struct audit_record *r, struct err *e);

struct audit_check {
    int64_t records; /* that hold */
    int64_t
        broken_seq; /* the first record that is missing or not what it was; 0: the chain holds */
    char problem[160];
    char head[AUDIT_HASH_HEX]; /* of the last of them */
};
[[nodiscard]] int audit_verify(struct db *db, struct audit_check *ret, struct err *e);
/* Calls each() for records after `after_seq`, oldest first, up to limit; stops when it returns non-zero. */
[[nodiscard]] int audit_each(struct db *db, int64_t after_seq, unsigned limit,
                             int (*each)(void *context, const struct audit_record *r),
                             void *context, struct err *e);
