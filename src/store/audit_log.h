/* store/audit_log.h — the audit log: append-only; a hash binds each record to all records before
 * it. Runs in: the writer thread; verification in any thread.
 *
 * hash = digest(previous hash, seq, time, kind, subject, actor, detail), see store/digest.h. The
 * hash before the first record is 32 zeros. seq starts at 1 and grows by one. Changing, removing,
 * inserting or reordering a record breaks the chain from there on. A removed tail shows only against
 * a seal, or a head that was noted elsewhere. The oldest records may be removed, which the log
 * records: see audit_retain.h. */
#pragma once

#include "store/audit_seal.h"
#include "store/db.h"

enum { AUDIT_HASH_HEX = 65 };

struct audit_record {
    int64_t seq, time_ms;
    /* "run.accepted", "run.finished", "approval.decided", "key.added", "service.started", ... */
    const char *kind;
    const char *subject; /* run id, approval id or key name; "" if there is none */
    const char *actor;   /* name of the API key, "unix:UID", "anonymous" or "service" */
    const char *detail;  /* JSON object */
    const char *hash;    /* hex */
};

/* Uses time_ms, kind, subject, actor, detail. Comes after the change that it records: the digest of
 * the changed row becomes part of the detail, see audit_rows.h. */
[[nodiscard]] int audit_append(struct db *db, const struct audit_record *r, struct err *e);

/* The hash of a record, from that of the record before it, in place. */
void audit_next_hash(const struct audit_record *r, uint8_t hash[DIGEST_BYTES]);

/* The last record, as of now; seq 0: there is none. */
struct audit_head {
    int64_t seq;
    int64_t first; /* the number of the oldest record that is there */
    uint8_t hash[DIGEST_BYTES];
};
[[nodiscard]] int audit_head(struct db *db, struct audit_head *ret, struct err *e);

/* The records 1 to `to` are not in the log any more. */
#define AUDIT_REMOVED "audit.removed"
struct audit_removal {
    int64_t seq, time_ms;    /* of the record that tells it */
    int64_t from, to;        /* the records that were removed with this one; to 0: none ever */
    int64_t sealed;          /* a record that was sealed then: `to` or a later one */
    int64_t bytes;           /* of these records */
    int64_t max_bytes;       /* the bound that the log exceeded; 0: the bound of its age */
    int64_t max_age_ms;      /* 0: the bound of its size */
    int64_t digests_from_ms; /* the time of the oldest record with a digest; 0: not removed yet */
    uint8_t head[DIGEST_BYTES]; /* the hash of record `to` */
};
/* The detail of that record, for printf and scanf. */
#define AUDIT_REMOVAL_DETAIL(number, age, hash)                                      \
    "{\"from\":" number ",\"to\":" number ",\"sealed\":" number ",\"bytes\":" number \
    ",\"max_bytes\":" number age ",\"digests_from_ms\":" number ",\"head\":\"" hash "\"}"
#define AUDIT_REMOVAL_AGE(number) ",\"max_age_ms\":" number
/* The newest removal. 1; 0: there was none; -1. */
[[nodiscard]] int audit_removal_read(struct db *db, struct audit_removal *ret, struct err *e);

struct audit_check {
    int64_t records;    /* number of intact records */
    int64_t broken_seq; /* the first record that is missing or changed; 0: the chain is intact */
    bool is_row;        /* the chain is intact, but a row is not as that record says */
    int64_t rows;       /* number of rows that are as their newest record says */
    char problem[240];
    char head[AUDIT_HASH_HEX];   /* hash of the last intact record */
    char before[AUDIT_HASH_HEX]; /* hash of the record before the first one */
    int64_t unsealed;            /* records behind the last seal */
    struct audit_removal removal;
};
/* Checks the chain, then every seal against its record, then every row. seals NULL: none are known,
 * which is a fault if a service has run. Reads one state of the database. */
[[nodiscard]] int audit_verify(struct db *db, const struct audit_seals *seals,
                               struct audit_check *ret, struct err *e);
/* The same without the seals, which a keeper cannot read: a log that was rewritten from some record to
 * its end, with all hashes anew, is not found. */
[[nodiscard]] int audit_verify_chain(struct db *db, struct audit_check *ret, struct err *e);
/* Calls each() for up to `limit` records after `after_seq`, oldest first. Stops when each() returns
 * non-zero. */
[[nodiscard]] int audit_each(struct db *db, int64_t after_seq, unsigned limit,
                             int (*each)(void *context, const struct audit_record *r),
                             void *context, struct err *e);
