/* The end of a run_spec. Declared in engine/run.h. */
#include <stdlib.h>

#include "base/array.h"
#include "base/strv.h"
#include "engine/run.h"

void run_spec_done(struct run_spec *s)
{
    char *const texts[] = { s->main_name,   s->key,      s->actor,    s->requester,
                            s->thread,      s->artifact, s->batch,    s->surface,
                            s->request,     s->code,     s->template, s->template_image,
                            s->template_key };
    if (s->host && s->host->on_freed)
        s->host->on_freed(s->host);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    for (size_t i = 0; i < s->n_stages; i++) {
        free(s->stages[i].name);
        free(s->stages[i].main_name);
    }
    free(s->stages);
    buf_done(&s->bundle);
    buf_done(&s->stdin_bytes);
    strv_free(s->args);
    strv_free(s->env);
    strv_free(s->outputs);
    strv_free(s->mounts);
    json_decref(s->metadata);
    json_decref(s->extraction);
    run_options_done(&s->options);
    network_policy_done(&s->network);
    *s = (struct run_spec){ 0 };
}
