#include "api/runs/submit.h"

#include "api/approvals/approvals.h"
#include "api/kernel/storage.h"
#include "api/runs/fixes.h"

int api_submit(struct api *api, struct run_spec *spec, const char *mode, unsigned flags,
               struct run_watch *w, struct run **ret, struct err *e)
{
    struct admission admission;
    struct run *x;
    struct err failed;
    if (storage_check(api, e) || approvals_admit(api, spec, mode, &admission, e)) {
        run_spec_done(spec);
        return -1;
    }
    fixes_arm(api, spec);
    if (admission.kind == ADMISSION_GRANTED)
        return engine_submit(api->engine, spec, flags, NULL, w, ret, e);
    if (engine_submit(api->engine, spec, flags | SUBMIT_AWAITS_DECISION, NULL, w, &x, e))
        return -1;
    if (admission.kind == ADMISSION_DENIED)
        run_reject(x, admission.reason);
    else if (approvals_request(api, x, admission.reason, &failed))
        run_reject(x, failed.text);
    *ret = x;
    return 0;
}
