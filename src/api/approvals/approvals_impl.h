/* api/approvals/approvals_impl.h — what approvals.c, approvals_decide.c, approvals_routes.c and agent.c share. Runs in: keeper. */
#pragma once

#include "api/approvals/approvals.h"
#include "store/approval_rows.h"

/* One request that waits, or was decided a moment ago. */
struct held {
    struct run_watch watch;
    struct held *next;
    struct api *api;
    struct run *exec; /* NULL: not in memory, it waited before a restart; or over */
    char id[ID_SIZE];
    char run[ID_SIZE];
    int64_t expires_ms;
    enum decision decision;
    char *decided_by, *reason; /* NULL until decided */
    bool deciding;             /* the service itself has begun to */
    bool over;                 /* nobody needs it any more */
};

struct approvals {
    struct held *held;
    struct rule_rows rules;
    uv_timer_t *timer; /* the next expiry */
};

struct held *held_find(const struct api *api, const char *id);
[[nodiscard]] int rules_add(struct approvals *a, struct rule_row *r /* taken */, struct err *e);
/* The rule that denies it, or NULL. */
const struct rule_row *rules_denying(const struct approvals *a, const struct run_spec *s);
void rules_remove(struct approvals *a, const char *id);

/* ---- decisions (approvals_decide.c) ---- */
struct decide {
    struct store_job job;
    struct api *api;
    /* what is asked: the owner fills in */
    char *id;     /* or NULL, and then the oldest pending one of */
    char *thread; /* this thread */
    enum decision decision;
    char *by, *reason, *remember, *prefix; /* NULL where not */
    json_t *edited_input;
    void (*done)(struct decide *d, const struct err *e, const char *field); /* e NULL: decided */
    void *user;
    /* what was found, and what is to be done */
    struct approval_row row, decided;
    struct run_record run;
    bool has_run, has_spec, has_rule;
    struct run_spec spec;
    struct rule_row rule;
};
/* NULL when memory ran out. */
struct decide *decide_new(struct api *api, enum decision decision, const char *by);
/* Reads, checks, writes, applies; then calls done() once, and frees. */
void decide_start(struct decide *d);
/* From a body with decision, edited_input, reason, remember, prefix. NULL after the call was failed. */
struct decide *decide_of_call(struct api_call *c);

/* ---- views (approvals_routes.c) ---- */
json_t *approval_object(const struct approval_row *r, bool with_diff);
extern const char *const decision_words[]; /* what a person may decide */

/* Handlers of /api/agent (agent.c). */
void agent_pending(struct api_call *c);
void agent_interrupt(struct api_call *c);
void agent_state(struct api_call *c);
