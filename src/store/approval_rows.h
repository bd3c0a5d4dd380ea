/* store/approval_rows.h — approval requests, decisions on them, and standing rules. Runs in: a
 * store thread. */
#pragma once

#include "store/db.h"

#define DECISION_TABLE(X)            \
    X(DECISION_PENDING, "pending")   \
    X(DECISION_APPROVE, "approve")   \
    X(DECISION_EDIT,    "edit")      \
    X(DECISION_REJECT,  "reject")    \
    X(DECISION_EXPIRED, "expired")
enum decision {
#define X(id, word) id,
    DECISION_TABLE(X)
#undef X
        DECISION_COUNT_
};
const char *decision_word(enum decision d);

struct approval_row {
    int64_t seq;
    char *id, *thread, *run; /* run id */
    char *tool;              /* "execute", "write_file", "edit_file" */
    char *input;             /* JSON: the request */
    char *risks;             /* JSON array */
    char *reason;            /* why an approval is needed */
    char *requester;         /* as in struct run_spec; NULL: asked before this was known */
    enum decision decision;
    char *decided_by, *decided_reason, *edited_input, *remember; /* NULL where absent */
    int64_t created_ms, expires_ms, decided_ms;                  /* expires_ms 0: never */
};
void approval_row_done(struct approval_row *r);

[[nodiscard]] int approvals_insert(struct db *db, const struct approval_row *r, struct err *e);
[[nodiscard]] int approvals_get(struct db *db, const char *id, struct approval_row *ret,
                                struct err *e);
/* The oldest pending request of a thread; ERR_NOT_FOUND if there is none. */
[[nodiscard]] int approvals_pending_of(struct db *db, const char *thread, struct approval_row *ret,
                                       struct err *e);

struct approval_rows {
    struct approval_row *rows;
    size_t n;
    int64_t next_before_seq;
};
void approval_rows_done(struct approval_rows *r);
/* decision NULL: any. Newest first. */
[[nodiscard]] int approvals_list(struct db *db, const char *decision, const char *thread,
                                 int64_t before_seq, unsigned limit, struct approval_rows *ret,
                                 struct err *e);
/* Uses id, decision, decided_by, decided_reason, edited_input, remember, decided_ms. On success
 * *ret is the whole row. ERR_CONFLICT if the request was decided before, or has expired by
 * decided_ms (unless the decision is DECISION_EXPIRED); the error names the person and the time.
 * ERR_NOT_FOUND if there is no such request. */
[[nodiscard]] int approvals_decide(struct db *db, const struct approval_row *r,
                                   struct approval_row *ret, struct err *e);

/* Standing rules: "deny" holds in every mode; "allow" makes a question unnecessary. */
struct rule_row {
    int64_t seq;
    char *id, *action; /* "allow" or "deny" */
    char *thread;      /* NULL: all threads */
    char *tool;        /* "execute", ... */
    char *language;    /* NULL: any */
    char *match;       /* "any", "exact", "prefix" or "contains" */
    char *text;        /* of "exact": the digest of a spec */
    char *made_by;
    char *
        requester; /* only runs of this requester; NULL: of everybody; "": not known, so of nobody */
    int64_t created_ms;
};
void rule_row_done(struct rule_row *r);
[[nodiscard]] int rules_insert(struct db *db, const struct rule_row *r, struct err *e);
[[nodiscard]] int rules_delete(struct db *db, const char *id, struct err *e);
struct rule_rows {
    struct rule_row *rows;
    size_t n;
};
void rule_rows_done(struct rule_rows *r);
[[nodiscard]] int rules_list(struct db *db, struct rule_rows *ret, struct err *e);
