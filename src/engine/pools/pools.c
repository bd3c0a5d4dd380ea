#include "engine/pools/pools.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* A target goes up at once, and down as peak / (1 + t / FADE_MS). */
enum { FADE_MS = 20000 };
/* A kind without a run for IN_USE_MS gets fewer embryos. After KEPT_MS it loses its zygote, unless
 * it is preloaded or for sessions. */
enum { IN_USE_MS = 5 * 60 * 1000, KEPT_MS = 15 * 60 * 1000 };
/* People come back to sessions after hours, and a boot takes as long as a hundred warm starts. */
enum { SESSIONS_KEPT_MS = 24 * 60 * 60 * 1000 };
/* There must be room for so long before pools come back. */
enum { RELIEF_MS = 10000 };
/* Memory is short from STALLED_HIGH percent of stalled time, and has room below STALLED_LOW. */
enum { STALLED_HIGH = 10, STALLED_LOW = 1 };
/* The most memory that an embryo takes for itself. All embryos may take an eighth of the memory. */
#define EMBRYO_BYTES       (4ULL << 20)
#define LARGE_EMBRYO_BYTES (12ULL << 20)
enum { MEMORY_SHARE = 8 };
#define FLOOR_MAX_BYTES (512ULL << 20)

/* ---- settings ---- */

static uint32_t kind_bit(const char *name, size_t len, char *known, size_t size)
{
    const struct zygote_def *defs[ZYGOTE_KINDS_MAX];
    size_t n = warm_zygotes(defs);
    known[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (strlen(defs[i]->name) == len && memcmp(defs[i]->name, name, len) == 0)
            return KIND_BIT(i);
        size_t used = strlen(known);
        (void)snprintf(known + used, size - used, "%s%s", used ? ", " : "", defs[i]->name);
    }
    return 0;
}

int pools_preload(const char *text, uint32_t *ret, struct err *e)
{
    uint32_t bits = 0;
    if (strcmp(text, "all") == 0 || strcmp(text, "used") == 0) {
        *ret = text[0] == 'a' ? UINT32_MAX : 0;
        return 0;
    }
    for (const char *at = text;; at++) {
        char known[160];
        at += strspn(at, " ");
        size_t len = strcspn(at, ","), word = len;
        while (word > 0 && at[word - 1] == ' ')
            word--;
        uint32_t bit = kind_bit(at, word, known, sizeof known);
        if (bit == 0)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "pools.preload '%s' is not accepted: use all, used, or kinds with "
                           "commas (%s)",
                           QUOTED(text), known);
        bits |= bit;
        at += len;
        if (*at == '\0')
            break;
    }
    *ret = bits;
    return 0;
}

void pools_policy_init(struct pools_policy *p, const struct pools_settings *s)
{
    *p = (struct pools_policy){ .settings = *s };
    /* In the order of warm_zygotes(). */
    for (const struct language *const *l = languages; *l; l++)
        for (const struct warm *w = (*l)->warm; w && w->zygote.name && p->n < ZYGOTE_KINDS_MAX; w++)
            p->kinds[p->n++] = (struct pool_kind){ w->zygote.name, *l, w->large, w->session };
}

/* ---- demand ---- */

void pools_policy_expect(struct pools_policy *p, unsigned kind, uint64_t now_ms)
{
    if (kind == 0 || kind > p->n)
        return;
    p->demand[KIND_INDEX(kind)].used = true;
    p->demand[KIND_INDEX(kind)].used_ms = now_ms;
}

void pools_policy_count_demand(struct pools_policy *p, unsigned kind, uint64_t now_ms)
{
    if (kind == 0 || kind > p->n)
        return;
    p->demand[KIND_INDEX(kind)].runs++;
    pools_policy_expect(p, kind, now_ms);
}

static bool used_within(const struct pools_policy *p, size_t i, uint64_t now_ms, uint64_t ms)
{
    return p->demand[i].used && now_ms - p->demand[i].used_ms < ms;
}

static void follow_demand(struct pools_policy *p, uint64_t now_ms)
{
    uint64_t past = p->decided_ms ? now_ms - p->decided_ms : 0;
    for (size_t i = 0; i < p->n; i++) {
        double faded = p->demand[i].peak / (1 + (double)past / FADE_MS);
        unsigned max = p->settings.max; /* a higher peak would only fade later */
        double runs = p->demand[i].runs < max ? p->demand[i].runs : max;
        p->demand[i].peak = runs > faded ? runs : faded;
        p->demand[i].runs = 0;
    }
    p->decided_ms = now_ms;
}

/* The least number of embryos, also without demand. Large kinds have fewer: a fork on demand is
 * fast, too. */
static unsigned least_ready(const struct pools_policy *p, size_t i, uint64_t now_ms)
{
    unsigned min = p->settings.min;
    if (used_within(p, i, now_ms, IN_USE_MS))
        return p->kinds[i].large ? (min + 1) / 2 : min;
    /* One embryo takes about a megabyte, and the first run starts warm. */
    return min > 0 ? 1 : 0;
}

/* ---- memory ---- */

static void check_memory(struct pools_policy *p, const struct pools_view *v)
{
    const struct pools_memory *m = &v->memory;
    uint64_t tenth = m->total / 10, floor = p->settings.memory_floor;
    if (floor == 0)
        floor = tenth < FLOOR_MAX_BYTES ? tenth : FLOOR_MAX_BYTES;
    bool low = (m->total > 0 && m->available < floor) || m->stalled >= STALLED_HIGH;
    bool room = (m->total == 0 || m->available >= floor + floor / 4) && m->stalled < STALLED_LOW;
    if (!p->short_of_memory) {
        p->short_of_memory = low;
        p->room_since_ms = 0;
        return;
    }
    if (!room)
        p->room_since_ms = 0;
    else if (p->room_since_ms == 0)
        p->room_since_ms = v->now_ms;
    else if (v->now_ms - p->room_since_ms >= RELIEF_MS)
        p->short_of_memory = false;
}

/* Cuts every target by the same share, so that all of them fit. */
static void fit_targets(const struct pools_policy *p, struct pool_targets *t, uint64_t total_bytes)
{
    uint64_t bytes = 0, count = 0, room = total_bytes / MEMORY_SHARE;
    for (size_t i = 0; i < p->n; i++) {
        count += t->kinds[i].ready;
        bytes += t->kinds[i].ready * (p->kinds[i].large ? LARGE_EMBRYO_BYTES : EMBRYO_BYTES);
    }
    for (size_t i = 0; i < p->n; i++) {
        uint64_t ready = t->kinds[i].ready, by_count = ready, by_bytes = ready;
        if (count > POOL_EMBRYOS_MAX)
            by_count = ready * POOL_EMBRYOS_MAX / count;
        if (total_bytes > 0 && bytes > room)
            by_bytes = (uint64_t)((double)ready * (double)room / (double)bytes);
        t->kinds[i].ready = (uint32_t)(by_count < by_bytes ? by_count : by_bytes);
    }
}

/* ---- the round ---- */

static bool needs_zygote(const struct pools_policy *p, const struct pools_view *v, size_t i)
{
    uint64_t kept_ms = p->kinds[i].session ? SESSIONS_KEPT_MS : KEPT_MS;
    bool wanted = (p->settings.preload & KIND_BIT(i)) || used_within(p, i, v->now_ms, kept_ms);
    return v->sealed && p->settings.max > 0 && (v->installed & KIND_BIT(i)) && wanted &&
           !(p->short_of_memory && p->kinds[i].large);
}

static uint32_t target_of(const struct pools_policy *p, const struct pools_view *v, size_t i)
{
    if (p->short_of_memory)
        return 0;
    unsigned floor = least_ready(p, i, v->now_ms);
    unsigned peak = (unsigned)(p->demand[i].peak + 0.5);
    unsigned ready = peak > floor ? peak : floor;
    if (ready > p->settings.max)
        ready = p->settings.max;
    if (v->crowded && v->known && ready > v->known[i].ready + v->known[i].building)
        ready = v->known[i].ready + v->known[i].building;
    return ready;
}

struct pool_targets pools_policy_decide(struct pools_policy *p, const struct pools_view *v)
{
    struct pool_targets t = { .limits = p->settings.limits,
                              .zygote_forks = p->settings.zygote_forks,
                              .zygote_age_ms = p->settings.zygote_age_ms };
    follow_demand(p, v->now_ms);
    check_memory(p, v);
    for (size_t i = 0; i < p->n; i++) {
        t.kinds[i].on = needs_zygote(p, v, i);
        t.kinds[i].ready = t.kinds[i].on ? target_of(p, v, i) : 0;
    }
    fit_targets(p, &t, v->memory.total);
    return t;
}

bool pools_policy_at_rest(const struct pools_policy *p, const struct pool_targets *t,
                          const struct pool_state *known)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct pool_state *k = &known[i];
        bool settled = !t->kinds[i].on ? k->zygote == ZYGOTE_OFF && k->ready == 0
                                       : k->zygote == ZYGOTE_UP && k->ready >= t->kinds[i].ready;
        if (!settled && k->zygote != ZYGOTE_FAILED)
            return false;
    }
    return true;
}
