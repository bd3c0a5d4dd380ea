#include "api/doors/door_submit.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/runs/submit.h"

/* Takes over the spec, unless there is an error already. */
static void submit(struct door_submission *s, struct run_spec *spec, struct err *e,
                   const char *field)
{
    struct run *x = NULL;
    json_decref(s->request);
    s->request = NULL;
    if (e->code == ERR_NONE && s->batch && !(spec->batch = strdup(s->batch))) {
        run_spec_done(spec);
        (void)!err_no_memory(e, "a run");
    }
    if (e->code == ERR_NONE && api_submit(s->api, spec, NULL, 0, s->watch, &x, e)) {
        x = NULL;
        field = "";
    }
    s->done(s, x, e, field);
}

static void on_made(struct spec_work *w)
{
    struct door_submission *s = (struct door_submission *)((char *)w -
                                                           offsetof(struct door_submission, work));
    struct err e = w->err;
    submit(s, &w->spec, &e, w->field);
}

static void make_here(struct door_submission *s)
{
    struct err e = { 0 };
    char field[128] = "";
    struct run_spec spec = { 0 };
    if (api_validate(s->request, run_fields, false, field, sizeof field, &e) == 0)
        (void)!run_spec_from_json(s->api, s->who, s->request, s->surface, &spec, field,
                                  sizeof field, &e);
    submit(s, &spec, &e, field);
}

void door_submit(struct door_submission *s)
{
    struct err e = { 0 };
    if (!s->is_large) {
        make_here(s);
        return;
    }
    s->work = (struct spec_work){ .api = s->api,
                                  .who = s->who,
                                  .request = s->request,
                                  .surface = s->surface,
                                  .validate = true,
                                  .done = on_made };
    if (spec_work_start(&s->work, &e))
        submit(s, &s->work.spec, &e, "");
}

const char *door_signal_name(int number, char *out, size_t size)
{
    const char *name = sigabbrev_np(number);
    if (name)
        (void)snprintf(out, size, "SIG%s", name);
    else
        (void)snprintf(out, size, "SIG%d", number);
    return out;
}
