/* Whether a run may come in, and which run is next: one line for each key, and the lines take
 * turns. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "engine/engine_impl.h"

static const char *key_of(const struct run *run)
{
    return run->spec.key ? run->spec.key : "";
}

static struct key_line *line_find(const struct engine *engine, const char *key)
{
    for (struct key_line *line = engine->queue.lines; line; line = line->next)
        if (strcmp(line->key, key) == 0)
            return line;
    return NULL;
}

static struct key_line *line_find_or_add(struct engine *engine, const char *key)
{
    struct key_line *line = line_find(engine, key), **end = &engine->queue.lines;
    if (line)
        return line;
    line = calloc(1, sizeof *line);
    if (!line || !(line->key = strdup(key))) {
        free(line);
        return NULL;
    }
    while (*end)
        end = &(*end)->next;
    *end = line;
    return line;
}

static void line_free_if_empty(struct engine *engine, struct key_line *line)
{
    if (line->waiting > 0 || line->running > 0)
        return;
    struct key_line **at = &engine->queue.lines;
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    free(line->key);
    free(line);
}

static void line_move_to_end(struct engine *engine, struct key_line *line)
{
    struct key_line **at = &engine->queue.lines;
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    line->next = NULL;
    for (at = &engine->queue.lines; *at;)
        at = &(*at)->next;
    *at = line;
}

static unsigned key_max(const struct engine *engine, uint32_t of_key)
{
    return of_key > 0 ? of_key : engine->limits.max_per_key;
}

/* ---- bursts ----
 * If many runs come at once and the service has room, it is better to run all of them late than to
 * refuse some. If more runs come than the service can run, for a long time, every run would be late;
 * then the accepted runs must stay fast. So the queue may become long once: if it was not full
 * before, for a short time, until the first refusal, and while the last run in it will not wait
 * long. */
enum { CALM_MS = 500, BURST_MS = 2000, BURST_WAIT_MS = 2000 };

void queue_note_duration(struct engine *engine, double ms)
{
    double *mean = &engine->queue.mean_ms;
    *mean = *mean > 0 ? *mean + (ms - *mean) / 16 : ms;
}

uint64_t queue_wait_ms(const struct engine *engine)
{
    unsigned max = engine->limits.max ? engine->limits.max : 1;
    return (uint64_t)(engine->queue.bounded * engine->queue.mean_ms / max);
}

static bool allows_burst(struct engine *engine, uint64_t now_ms)
{
    struct queue *q = &engine->queue;
    if (q->running + q->bounded + 1 < engine->limits.max)
        return true; /* there is room anyway */
    if (q->full_ms == 0 || now_ms - q->full_ms >= CALM_MS)
        q->burst_until_ms = now_ms + BURST_MS;
    q->full_ms = now_ms;
    return engine->wire_fd >= 0 && now_ms < q->burst_until_ms &&
           queue_wait_ms(engine) < BURST_WAIT_MS;
}

/* Counts the runs with a jar and the runs that wait for one together: a run waits for its record
 * also if there is room. */
bool queue_has_room(struct engine *engine, const char *key, uint32_t key_max_runs, uint64_t now_ms)
{
    const struct key_line *line = line_find(engine, key ? key : "");
    unsigned burst = allows_burst(engine, now_ms) ? engine->limits.burst : 0;
    unsigned own = line ? line->running + line->bounded : 0, of_all = engine->limits.queue;
    unsigned max = engine->wire_fd >= 0 ? engine->limits.max : 0; /* without a warden all wait */
    unsigned own_max = key_max(engine, key_max_runs) < max ? key_max(engine, key_max_runs) : max;
    /* One key alone never fills the queue. */
    unsigned of_key = key ? (of_all + 1) / 2 + burst / 4 * 3 : of_all + burst;
    bool room = engine->queue.running + engine->queue.bounded < max + of_all + burst &&
                own < own_max + of_key;
    if (!room)
        engine->queue.burst_until_ms = 0;
    return room;
}

/* ---- admission ---- */

enum { RETRY_AFTER_MAX_S = 300 };

/* About half of the expected wait of the last run in the queue. */
unsigned engine_retry_after_s(const struct engine *engine)
{
    uint64_t s = 1 + queue_wait_ms(engine) / 2000;
    return s < RETRY_AFTER_MAX_S ? (unsigned)s : RETRY_AFTER_MAX_S;
}

uint64_t run_spec_bytes(const struct run_spec *s)
{
    return s->bundle.len + s->stdin_bytes.len + (s->request ? strlen(s->request) : 0) +
           (s->code ? strlen(s->code) : 0);
}

/* Few runs may be large ones: the bytes of all specs are bounded, too, and one key never takes more
 * than half of them. */
static bool too_many_bytes(const struct engine *engine, const struct run_spec *spec)
{
    uint64_t all = run_spec_bytes(spec), own = all;
    const char *key = spec->key ? spec->key : "";
    if (!engine->alive) /* one run alone may be as large as a request */
        return false;
    for (const struct run *run = engine->alive; run; run = run->next_alive) {
        all += run->spec_bytes;
        own += strcmp(key_of(run), key) == 0 ? run->spec_bytes : 0;
    }
    return all > engine->limits.bytes || (spec->key && own > engine->limits.bytes / 2);
}

/* The most that a stage of the run may take. */
static uint64_t promise(const struct run_spec *s, enum limit_id id)
{
    struct limits compiler = s->options.compile_limits;
    bool compiles = s->language->compile || (s->options.check_types && s->language->check);
    if (compiler.v[LIMIT_WALL_MS] == 0)
        compiler = compile_limits_default();
    return compiles && compiler.v[id] > s->limits.v[id] ? compiler.v[id] : s->limits.v[id];
}

static bool fits(uint64_t promised, uint64_t more, uint64_t most)
{
    return most == 0 || (more <= most && promised <= most - more);
}

/* A promise is never broken: the sum of all limits stays within the bounds. The bounds may have
 * become smaller since a run was accepted; such a run gets its turn alone, and blocks no others. */
static bool can_be_promised(const struct engine *engine, const struct run_spec *s)
{
    const struct queue *q = &engine->queue;
    if (q->running == 0)
        return true;
    return fits(q->memory, promise(s, LIMIT_MEMORY), engine->limits.memory) &&
           fits(q->pids, promise(s, LIMIT_PIDS), engine->limits.pids);
}

/* A run that never fits does not wait in vain. */
static int check_promises(const struct engine *engine, const struct run_spec *s, struct err *e)
{
    const struct {
        enum limit_id id;
        uint64_t most;
        const char *setting;
    } bounds[] = { { LIMIT_MEMORY, engine->limits.memory, "runs.memory" },
                   { LIMIT_PIDS, engine->limits.pids, "runs.pids" } };
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        const struct limit_def *d = &limit_defs[bounds[i].id];
        char asked[32], most[32];
        if (!fits(0, promise(s, bounds[i].id), bounds[i].most))
            return err_set(
                e, ERR_BAD_REQUEST, 0,
                "the limit %s '%s' is above %s '%s', the bound of this service for all "
                "runs together: ask for less",
                d->key, unit_format(d->unit, promise(s, bounds[i].id), asked, sizeof asked),
                bounds[i].setting, unit_format(d->unit, bounds[i].most, most, sizeof most));
    }
    return 0;
}

int admission_check(struct engine *engine, const struct run_spec *spec, unsigned flags,
                    struct err *e)
{
    if (engine->draining)
        return err_set(e, ERR_BUSY, 0, "the service is stopping: try again when it is back");
    /* A stored run was admitted before a restart, maybe with larger bounds. */
    if (!(flags & SUBMIT_STORED) && check_promises(engine, spec, e))
        return -1;
    if ((flags & SUBMIT_AWAITS_DECISION) && !(flags & SUBMIT_STORED) &&
        engine->counts.undecided >= engine->limits.undecided)
        return err_set(e, ERR_BUSY, 0,
                       "%u runs wait for an approval, and this service accepts no more: decide on "
                       "some first",
                       engine->counts.undecided);
    if (too_many_bytes(engine, spec))
        return err_set(e, ERR_BUSY, 0,
                       "the programs that run and wait are together as large as this service "
                       "accepts: try again in %u s",
                       engine_retry_after_s(engine));
    if (flags & (SUBMIT_UNBOUNDED | SUBMIT_AWAITS_DECISION) ||
        queue_has_room(engine, spec->key, spec->key_max_runs, uv_now(engine->loop)))
        return 0;
    engine->counts.refused++;
    return err_set(e, ERR_BUSY, 0,
                   "%u runs are running and %u wait, and this service accepts no more: try again "
                   "in %u s",
                   engine->queue.running, engine->queue.waiting, engine_retry_after_s(engine));
}

/* ---- the queue ---- */

/* Its jar would have no network. The runs behind it may begin before it. */
static bool awaits_porter(const struct engine *engine, const struct run *run)
{
    return engine->porter.fd < 0 && run->spec.network.mode != NETWORK_NONE && !run->spec.host;
}

int queue_push(struct engine *engine, struct run *run, struct err *e)
{
    struct key_line *line = line_find_or_add(engine, key_of(run));
    if (!line)
        return err_no_memory(e, "a run");
    run->line = line;
    run->queued_us = clock_us();
    run->next_waiting = NULL;
    if (line->last)
        line->last->next_waiting = run;
    else
        line->first = run;
    line->last = run;
    line->waiting++;
    line->bounded += !run->unbounded;
    engine->queue.waiting++;
    engine->queue.bounded += !run->unbounded;
    if (awaits_porter(engine, run))
        porter_link_await(engine);
    return 0;
}

static void unlink_waiting(struct engine *engine, struct key_line *line, struct run *run)
{
    struct run *before = NULL;
    for (struct run *at = line->first; at != run; at = at->next_waiting)
        before = at;
    if (before)
        before->next_waiting = run->next_waiting;
    else
        line->first = run->next_waiting;
    if (line->last == run)
        line->last = before;
    run->next_waiting = NULL;
    run->waited_us = clock_us() - run->queued_us;
    line->waiting--;
    line->bounded -= !run->unbounded;
    engine->queue.waiting--;
    engine->queue.bounded -= !run->unbounded;
}

struct run *queue_find_networked(const struct engine *engine)
{
    for (struct key_line *line = engine->queue.lines; line; line = line->next)
        for (struct run *run = line->first; run; run = run->next_waiting)
            if (awaits_porter(engine, run))
                return run;
    return NULL;
}

struct run *queue_pop(struct engine *engine)
{
    if (engine->queue.running >= engine->limits.max)
        return NULL;
    for (struct key_line *line = engine->queue.lines; line; line = line->next) {
        struct run *run = line->first;
        while (run && awaits_porter(engine, run))
            run = run->next_waiting;
        /* A run without a record does not begin (RUN-1), nor do the runs behind it. */
        if (!run || !run->is_recorded || line->running >= key_max(engine, run->spec.key_max_runs))
            continue;
        /* Smaller runs do not overtake: otherwise a large one might wait for ever. */
        if (!can_be_promised(engine, &run->spec))
            return NULL;
        unlink_waiting(engine, line, run);
        line->running++;
        engine->queue.running++;
        run->promised_memory = promise(&run->spec, LIMIT_MEMORY);
        run->promised_pids = promise(&run->spec, LIMIT_PIDS);
        engine->queue.memory += run->promised_memory;
        engine->queue.pids += run->promised_pids;
        run->state = RUN_RUNNING;
        line_move_to_end(engine, line);
        return run;
    }
    return NULL;
}

void queue_remove(struct engine *engine, struct run *run)
{
    struct key_line *line = run->line;
    if (!line)
        return;
    run->line = NULL;
    if (run->state == RUN_QUEUED) {
        unlink_waiting(engine, line, run);
    } else {
        line->running--;
        engine->queue.running--;
        engine->queue.memory -= run->promised_memory;
        engine->queue.pids -= run->promised_pids;
    }
    line_free_if_empty(engine, line);
}
