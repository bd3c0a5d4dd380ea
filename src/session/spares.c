#include "session/spares.h"

#include <poll.h>
#include <string.h>

#include "session/templates.h"

enum {
    SPARES_MAX = 4,   /* of all templates */
    SPARE_MS = 60000, /* the longest time that one waits */
};

bool spare_has_room(const struct sessions *all, const struct language *l)
{
    return l->rests && !all->stopping && all->spares < SPARES_MAX &&
           engine_may_prepare(all->engine);
}

/* The session has no further watch of ours. */
static struct session *let_go(struct spare *p)
{
    struct session *s = p->session;
    p->session = NULL;
    session_image_unref(p->image);
    p->image = NULL;
    s->all->spares--;
    return s;
}

static void on_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct spare *p = (struct spare *)w;
    if (event != SESSION_EVENT_ENDED)
        return;
    (void)let_go(p);
    session_watch_remove(s, w);
    p->on_gone(p);
}

bool spare_start(struct sessions *all, struct spare *p, struct session_spec *spec)
{
    struct err e = { 0 };
    p->watch.on_event = on_event;
    spec->idle_ms = SPARE_MS;
    spec->limits.v[LIMIT_WALL_MS] += SPARE_MS;
    all->spares++;
    p->image = session_image_ref(spec->image);
    if (template_try(all, spec, &p->watch, &p->session, &e) == 0)
        return true; /* it may be gone already */
    all->spares--;
    session_image_unref(p->image);
    p->image = NULL;
    return false;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool spare_fits(const struct spare *p, const struct session_spec *spec)
{
    const struct session *s = p->session;
    struct limits limits = spec->limits;
    limits.v[LIMIT_WALL_MS] += SPARE_MS;
    return s && p->image == spec->image && memcmp(&limits, &s->spec.limits, sizeof limits) == 0 &&
           memcmp(&spec->cell_limits, &s->spec.cell_limits, sizeof limits) == 0 &&
           same_text(s->spec.key, spec->key) && same_text(s->spec.actor, spec->actor);
}

/* A program that was killed has closed its end, maybe before we hear of that. */
static bool is_alive(const struct session *s)
{
    struct pollfd channel = { .fd = s->program ? s->program->jar.jar.channel_fd : -1 };
    return channel.fd >= 0 && poll(&channel, 1, 0) == 0;
}

struct session *spare_take(struct spare *p, const struct session_spec *spec)
{
    struct session *s = p->session;
    if (!spare_fits(p, spec) || s->state != SESSION_IDLE || !is_alive(s))
        return NULL;
    (void)let_go(p);
    s->all->spares_taken++;
    /* Its life begins now. The warden's limit is later, by the time that it may have waited. */
    s->spec.idle_ms = spec->idle_ms;
    s->spec.limits = spec->limits;
    s->spec.template = spec->template;
    s->created_loop_ms = uv_now(s->all->loop);
    session_touch(s);
    session_watch_remove(s, &p->watch);
    return s;
}

void spare_end(struct spare *p)
{
    if (!p->session)
        return;
    struct session *s = let_go(p);
    s->refs++;
    session_watch_remove(s, &p->watch);
    session_end(s, "no run took it");
    session_unref(s);
}
