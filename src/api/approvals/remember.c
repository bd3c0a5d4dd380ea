/* The rule that a decision leaves. See struct decide. */
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/approvals/shell_line.h"
#include "base/clock.h"
#include "base/strv.h"
#include "base/text.h"

static const struct run_spec *spec_of(const struct decide *d, const struct run *x)
{
    return d->has_spec ? &d->spec : x ? &x->spec : NULL;
}

/* The words of the prefix must be the first ones of the command that was shown. */
static int check_prefix(const struct decide *d, const struct run_spec *s, struct err *e)
{
    char **shown = NULL, **start = NULL;
    if (rule_command_of(s, &shown, e))
        return err_wrap(e, "remember 'prefix' is not possible here, 'exact' is");
    int failed = shell_line_words(d->prefix, strlen(d->prefix), &start, e);
    if (failed)
        (void)!err_wrap(e, "prefix");
    for (size_t i = 0; !failed && start[i]; i++)
        if (!shown[i] || strcmp(shown[i], start[i]) != 0)
            failed = err_set(e, ERR_BAD_REQUEST, 0,
                             "the command does not start with the words of prefix '%s'",
                             QUOTED(d->prefix));
    strv_free(shown);
    strv_free(start);
    return failed;
}

static int put_rule(struct decide *d, const struct run_spec *s, const char *match, const char *text,
                    struct err *e)
{
    char id[ID_SIZE];
    bool session = strcmp(match, "any") == 0;
    id_make("rul_", id);
    d->rule = (struct rule_row){
        .id = strdup(id),
        .action = strdup("allow"),
        .thread = session ? text_copy(d->row.thread) : NULL,
        .tool = text_copy(d->row.tool),
        .language = session ? NULL : strdup(s->language->name),
        .match = strdup(match),
        .text = strdup(text),
        .made_by = text_copy(d->by),
        .requester = text_copy(s->requester),
        .created_ms = clock_unix_ms(),
    };
    d->has_rule = true;
    if (!d->rule.id || !d->rule.action || !d->rule.tool || !d->rule.match || !d->rule.text ||
        (session ? !d->rule.thread : !d->rule.language) || !d->rule.made_by)
        return err_no_memory(e, "a rule");
    if (!d->rule.requester)
        return err_set(e, ERR_CONFLICT, 0,
                       "it is not known any more who asked for this run: approve it once");
    return 0;
}

static int remember_exact(struct decide *d, const struct run_spec *s, struct err *e)
{
    char digest[DIGEST_HEX];
    if (s->stdin_open)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "more stdin follows (stdin_open), and nobody has seen it: remember 'once' or "
            "'session' is accepted here");
    run_spec_digest(s, digest);
    return put_rule(d, s, "exact", digest, e);
}

int decide_make_rule(struct decide *d, const struct run *x, struct err *e)
{
    const struct run_spec *s = spec_of(d, x);
    if (!d->remember || strcmp(d->remember, "once") == 0)
        return 0;
    if (d->decision != DECISION_APPROVE)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "remember '%s' needs decision 'approve': POST /v1/rules makes a deny rule",
                       d->remember);
    if (!s)
        return err_set(e, ERR_CONFLICT, 0, "run '%s' no longer waits for a decision", d->row.run);
    if (strcmp(d->remember, "session") == 0)
        return d->row.thread
                   ? put_rule(d, s, "any", "", e)
                   : err_set(e, ERR_BAD_REQUEST, 0,
                             "remember 'session' needs a request with a thread_id: 'once', 'exact' "
                             "or 'prefix' is accepted here");
    if (strcmp(d->remember, "exact") == 0 || !d->prefix)
        return remember_exact(d, s, e);
    return check_prefix(d, s, e) || put_rule(d, s, "prefix", d->prefix, e) ? -1 : 0;
}
