#include "api/sessions/network_change.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/approvals/approvals.h"
#include "api/runs/run_spec.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"

static int check_wider(const struct api_call *c, const struct run_spec *wanted, struct err *e)
{
    struct admission admission;
    if (approvals_admit(c->api, wanted, NULL, &admission, e))
        return -1;
    if (admission.kind == ADMISSION_DENIED)
        return err_set(e, ERR_DENIED, 0, "the list is %s", admission.reason);
    if (admission.kind == ADMISSION_NEEDS_APPROVAL)
        return err_set(e, ERR_DENIED, 0,
                       "%s, and code that nobody has approved with this list runs in the session "
                       "already: create another session with it",
                       admission.reason);
    return 0;
}

/* The jar gets the authority of its secrets before the program runs. */
static int check_secrets(const struct network_policy *wanted, const struct network_policy *has,
                         struct err *e)
{
    const struct network_rule *outside;
    if (wanted->n_injects == 0 || (network_policy_has_injects(has, wanted) &&
                                   network_policy_is_within(wanted, has, &outside)))
        return 0;
    return err_set(
        e, ERR_BAD_REQUEST, 0,
        "a session gets its secrets at its start: a later list may have fewer of them, and "
        "with secrets it opens no further host; create another session");
}

int network_change_parse(const struct api_call *c, const struct session *s,
                         struct network_policy *ret, char *field, size_t size, struct err *e)
{
    const json_t *given = json_object_get(c->body, "network");
    const struct network_rule *outside;
    scoped(run_spec) wanted = { 0 };
    if (!given)
        return 0;
    json_auto_t *request = json_pack("{s:s, s:O}", "language", s->spec.language->name, "network",
                                     given);
    if (run_spec_of_session(c->api, &c->who, request, &wanted, field, size, e))
        return -1;
    if (check_secrets(&wanted.network, &s->spec.network, e) ||
        (!network_policy_is_within(&wanted.network, &s->spec.network, &outside) &&
         check_wider(c, &wanted, e))) {
        (void)snprintf(field, size, "network");
        return -1;
    }
    *ret = wanted.network;
    wanted.network = (struct network_policy){ 0 };
    return 0;
}

struct change_waiter {
    struct session_watch watch;
    struct api_call *call;
};

static void on_event(struct session_watch *watch, struct session *s, enum session_event event)
{
    struct change_waiter *w = (struct change_waiter *)watch;
    if (event != SESSION_EVENT_ENDED && !network_is_settled(s))
        return;
    api_reply(w->call, 200, session_object(s));
    session_watch_remove(s, watch);
    free(w);
}

void network_change_reply(struct api_call *c, struct session *s)
{
    struct change_waiter *w = network_is_settled(s) ? NULL : calloc(1, sizeof *w);
    if (!w) {
        api_reply(c, 200, session_object(s));
        return;
    }
    *w = (struct change_waiter){ { on_event, NULL }, c };
    session_watch_add(s, &w->watch);
}
