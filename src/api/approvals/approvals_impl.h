/* api/approvals/approvals_impl.h — shared by approvals.c, approvals_decide.c, approval_routes.c and
 * agent_routes.c. Runs in: keeper. */
#pragma once

#include "api/approvals/approvals.h"
#include "api/approvals/rules.h"

/* One run that waits for a decision, or got one a moment ago. */
struct pending_approval {
    struct run_watch watch;
    struct pending_approval *next;
    struct api *api;
    struct run *run; /* NULL: not in memory since a restart, or over */
    char id[ID_SIZE];
    char run_id[ID_SIZE];
    int64_t expires_ms;
    enum decision decision;
    char *decided_by, *reason; /* NULL until decided */
    bool deciding;             /* a decision of the service itself is on its way */
    bool over;                 /* sweep() frees it */
};

struct approvals {
    struct pending_approval *pending;
    struct rule_rows rules;
    uv_timer_t *timer; /* the next expiry */
};

struct pending_approval *pending_find(const struct api *api, const char *id);

/* ---- decisions (approvals_decide.c) ---- */
struct decide {
    struct store_job job;
    struct api *api;
    /* The caller of decide_new() fills in: */
    char *id;     /* or NULL for the oldest pending one of */
    char *thread; /* this thread */
    enum decision decision;
    char *by, *reason, *remember, *prefix; /* NULL: none */
    json_t *edited_input;
    void (*done)(struct decide *d, const struct err *e, const char *field); /* e NULL: decided */
    void *user;
    /* approvals_decide.c fills in: */
    struct approval_row row, decided;
    struct run_record run;
    bool has_run, has_spec, has_rule;
    struct run_spec spec;
    struct rule_row rule;
};
/* Makes the rule that `remember` asks for, if any (remember.c). x: the run, if it is in memory. */
[[nodiscard]] int decide_make_rule(struct decide *d, const struct run *x, struct err *e);
/* NULL if memory ran out. */
struct decide *decide_new(struct api *api, enum decision decision, const char *by);
/* Reads, checks, writes and applies the decision; then calls done() once, and frees. */
void decide_start(struct decide *d);
/* From a body with decision, edited_input, reason, remember, prefix. NULL: the call was failed. */
struct decide *decide_of_call(struct api_call *c);

/* ---- fields and objects (approval_routes.c) ---- */
json_t *approval_object(const struct approval_row *r, bool with_diff);
json_t *rule_object(const struct rule_row *r);
extern const char *const decision_words[];  /* that a person may make */
extern const char *const remember_words[];  /* NULL-terminated, as decision_words */
extern const struct api_field risk_reply[]; /* a row of preview_risks() */
extern const struct api_field approval_reply[];
