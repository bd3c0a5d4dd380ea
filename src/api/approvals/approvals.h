/* api/approvals/approvals.h — which runs start without the decision of a person: modes, rules, and
 * the queue of runs that wait for a decision. Runs in: keeper.
 *
 * Invariants
 * APPROVALS-1 A deny rule holds in every mode. A run that needs an approval waits in the engine; no
 *             part of it runs before a decision is in the database.
 * APPROVALS-2 A run is decided once: the database settles which of two decisions was first. Without
 *             a decision in time, the run is rejected.
 * APPROVALS-3 Waiting runs survive a restart: they can still be decided, and then run.
 * APPROVALS-4 An approved run is the one that was shown, by its digest. No stdin is accepted while
 *             it waits. */
#pragma once

#include "api/kernel/api.h"

/* Loads the waiting runs and the rules; waits for the database. */
[[nodiscard]] int approvals_open(struct api *api, struct err *e);
void approvals_close(struct api *api);

enum admission_kind { ADMISSION_GRANTED, ADMISSION_NEEDS_APPROVAL, ADMISSION_DENIED };
struct admission {
    enum admission_kind kind;
    char reason[160]; /* why an approval is needed, or why the run is denied */
};
/* By the rules and the permission mode. mode NULL: the setting. See api_submit() in
 * runs/submit.h. */
[[nodiscard]] int approvals_admit(const struct api *api, const struct run_spec *spec,
                                  const char *mode, struct admission *ret, struct err *e);
/* Asks for the approval of a run that was submitted with SUBMIT_AWAITS_DECISION. */
[[nodiscard]] int approvals_request(struct api *api, struct run *x, const char *reason,
                                    struct err *e);

/* ERR_DENIED if a rule denies bytes that are about to be added to the stdin of a run. */
[[nodiscard]] int approvals_check_stdin(const struct api *api, const struct run *run,
                                        const void *bytes, size_t n, struct err *e);

/* Whether a rule denies texts anywhere in a run such as this one: bytes that cannot be compared with it
 * must not reach the program. */
bool approvals_look_inside(const struct api *api, const struct run_spec *spec);

/* {id, decision, reason, decided_by, ...} of the approval of a run; NULL if it needed none. Known
 * until a while after the end of the run. A new reference. */
json_t *approvals_of_run(const struct api *api, const char *run_id);
