/* api/approvals/approvals.h — who may run what without a person's word: modes, rules, and the queue of those that wait.
 * Runs in: keeper.
 *
 * Invariants
 * Q1 A deny rule holds in every mode. Whoever asks waits held in the runner; nothing of it runs before a decision that is
 *    in the database.
 * Q2 A decision is made once: the database decides which of two was first. No decision in time is a no.
 * Q3 What waits survives a restart: it can still be decided, and then runs. */
#pragma once

#include "api/kernel/api.h"

/* Loads what waits and the rules; waits for the database. */
[[nodiscard]] int approvals_open(struct api *api, struct err *e);
void approvals_close(struct api *api);

/* In place of engine_submit(), for every run of every surface. mode NULL: the setting. A run that a rule denies is accepted
 * and ends as `rejected`; one that must be asked for waits (x->state is RUN_WAITING). */
[[nodiscard]] int approvals_run(struct api *api, struct run_spec *spec, const char *mode,
                                unsigned flags, struct run_watch *w, struct run **ret,
                                struct err *e);

/* {id, decision, reason, decided_by, ...} of a run that waited or waits; NULL when it never did. Known until a while after
 * the run's end. A new reference. */
json_t *approvals_of_run(const struct api *api, const char *run_id);
