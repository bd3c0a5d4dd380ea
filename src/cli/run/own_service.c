#include "cli/run/own_service.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/run/remote.h"
#include "cli/run/run_network.h"

void own_service_done(struct own_service *s)
{
    free(s->mounts.roots);
    strv_free(s->set);
}

/* The most of a limit that the command line asks for. The service refuses a value that is no
 * limit. */
static uint64_t wanted_limit(const struct run_arguments *o, int id)
{
    const struct limit_def *d = &limit_defs[id];
    uint64_t most = o->limits.v[id], value;
    const json_t *stage;
    size_t i;
    json_array_foreach(o->stages, i, stage) {
        const json_t *v = json_object_get(json_object_get(stage, "limits"), d->key);
        if (json_is_integer(v) && json_integer_value(v) > 0)
            value = (uint64_t)json_integer_value(v);
        else if (!json_is_string(v) || unit_parse(d->unit, json_string_value(v), &value))
            continue;
        most = value > most ? value : most;
    }
    return most < d->max ? most : d->max;
}

/* The caller is its operator: limits go as far as those of a run without a service. */
static int allow_limits(struct own_service *s, const struct run_arguments *o, struct err *e)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        uint64_t most = wanted_limit(o, i);
        char text[96], number[32];
        if (most <= d->service_max)
            continue;
        (void)snprintf(text, sizeof text, "limits.%s.max=%s", d->key,
                       unit_format(d->unit, most, number, sizeof number));
        if (strv_add(&s->set, text, e))
            return -1;
    }
    return 0;
}

static int allow_private(struct own_service *s, char *const *ranges, struct err *e)
{
    scoped(buf) text = { 0 };
    for (size_t i = 0; ranges && ranges[i]; i++)
        if (buf_addf(&text, e, "%s%s", i ? "," : "network.private=", ranges[i]))
            return -1;
    return text.len > 0 ? strv_add(&s->set, buf_str(&text), e) : 0;
}

static int make_settings(struct own_service *s, const struct run_arguments *o,
                         const char *const *more, struct err *e)
{
    char level[64];
    s->mounts = (struct repl_mounts){ .dirs = o->mount_roots,
                                      .names = o->mount_names,
                                      .secrets = o->mount_secrets };
    if (repl_mounts_allow(&s->mounts, e) || allow_limits(s, o, e) ||
        allow_private(s, o->allow_private, e))
        return -1;
    for (; more && *more; more++)
        if (strv_add(&s->set, *more, e))
            return -1;
    for (size_t i = 0; s->mounts.set[i]; i++)
        if (strv_add(&s->set, s->mounts.set[i], e))
            return -1;
    (void)snprintf(level, sizeof level, "runs.isolation=%s", level_name(o->level));
    return o->level == LEVEL_AUTO ? 0 : strv_add(&s->set, level, e);
}

int own_service_find(struct own_service *s, struct run_arguments *o, const char *const *more,
                     struct confined *x, struct err *e)
{
    const char *here = remote_option_of_here(o);
    if (here && o->service.url)
        return err_set(e, ERR_USAGE, 0,
                       "--service '%s' and %s contradict each other: %s uses a service of its own "
                       "for this run",
                       QUOTED(o->service.url), here, here);
    if (make_settings(s, o, more, e))
        return -1;
    x->service.network = run_network_wanted(o);
    x->service.set = (const char *const *)s->set;
    if (confined_find(x, &o->service, here != NULL, e))
        return -1;
    o->service = x->at;
    return 0;
}
