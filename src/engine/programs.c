#include "engine/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "run/program_disk.h"

/* A file of what is used from memory is marked as used this often. */
enum { TOUCH_MS = 60000 };
enum { REMEMBERED_MAX = 256 }; /* each has a descriptor */

/* Those who ask for one key with the same limits, until it is made. */
struct flight {
    char key[PROGRAM_KEY_SIZE];
    struct limits limits;        /* of the compiler */
    struct program_wait *leader; /* makes it; NULL while the disk is looked at */
    struct program_wait *first, *last;
    struct flight *next;
};

/* What a compiler refused just now: the other inputs of a batch, and who asks again at once, need not hear it from the compiler. */
struct refusal {
    struct program *program; /* NULL: none */
    struct limits limits;
    uint64_t at_ms;
};
enum { REFUSALS = 4, REFUSAL_MS = 10000 };

struct programs {
    uv_loop_t *loop;
    void (*answered)(void *context);
    void *context;
    struct flight *flights;
    struct program *remembered[REMEMBERED_MAX]; /* what was used longest ago is first */
    size_t n_remembered;
    uint64_t memory;
    struct refusal refusals[REFUSALS];
    size_t next_refusal;
    struct programs_disk disk;
    unsigned jobs;
    bool closing;
    struct programs_counts counts;
};

/* ---- programs ---- */

void program_release(struct program *p)
{
    if (!p || --p->refs > 0)
        return;
    preparation_done(&p->how);
    fd_close(&p->bundle_fd);
    free(p);
}

static struct program *hold(struct program *p)
{
    p->refs++;
    return p;
}

/* Takes *how over, also on failure. */
static struct program *program_new(const char *key, struct preparation *how)
{
    struct program *p = calloc(1, sizeof *p);
    if (!p) {
        preparation_done(how);
        return NULL;
    }
    (void)snprintf(p->key, sizeof p->key, "%s", key);
    p->how = *how;
    *how = (struct preparation){ 0 };
    p->bundle_fd = -1;
    p->refs = 1;
    p->touched_ms = clock_ms();
    return p;
}

static int take_bundle(struct program *p, const struct buf *files, const struct buf *made,
                       struct err *e)
{
    scoped(buf) merged = { 0 };
    if (stage_merge(files, made, &merged, e) ||
        fd_sealed_memory("belljar-files", &merged, &p->bundle_fd, e))
        return -1;
    p->bytes = sizeof *p + merged.len + p->how.said[RUN_STDOUT].len + p->how.said[RUN_STDERR].len;
    return 0;
}

/* ---- memory ---- */

/* The place is free then; the reference is the caller's. */
static struct program *forget(struct programs *ps, size_t at)
{
    struct program *p = ps->remembered[at];
    ps->memory -= p->bytes;
    ps->n_remembered--;
    for (size_t i = at; i < ps->n_remembered; i++)
        ps->remembered[i] = ps->remembered[i + 1];
    return p;
}

/* Takes a reference over. One that is half of all would drive out too many. */
static void remember(struct programs *ps, struct program *p)
{
    if (p->bytes > PROGRAMS_MEMORY / 2) {
        program_release(p);
        return;
    }
    while (ps->n_remembered == REMEMBERED_MAX ||
           (ps->n_remembered > 0 && ps->memory + p->bytes > PROGRAMS_MEMORY))
        program_release(forget(ps, 0));
    ps->remembered[ps->n_remembered++] = p;
    ps->memory += p->bytes;
}

/* The same, two of whose limits differed, may have been made twice. */
static void remember_anew(struct programs *ps, struct program *p)
{
    for (size_t i = ps->n_remembered; i > 0; i--)
        if (strcmp(ps->remembered[i - 1]->key, p->key) == 0)
            program_release(forget(ps, i - 1));
    remember(ps, p);
}

static struct program *recall(struct programs *ps, const char *key)
{
    for (size_t i = ps->n_remembered; i > 0; i--) {
        if (strcmp(ps->remembered[i - 1]->key, key) != 0)
            continue;
        struct program *p = forget(ps, i - 1);
        remember(ps, p);
        return p;
    }
    return NULL;
}

/* ---- who waits ---- */

/* Somebody else's compiler may have a hundredth of a CPU and minutes of time: nobody waits for one with other limits. */
static struct flight *find_flight(const struct programs *ps, const char *key,
                                  const struct limits *limits)
{
    for (struct flight *f = ps->flights; f; f = f->next)
        if (strcmp(f->key, key) == 0 && memcmp(&f->limits, limits, sizeof *limits) == 0)
            return f;
    return NULL;
}

static void add_wait(struct flight *f, struct program_wait *w)
{
    w->flight = f;
    w->next = NULL;
    *(f->last ? &f->last->next : &f->first) = w;
    f->last = w;
}

static void remove_wait(struct flight *f, struct program_wait *w)
{
    struct program_wait *before = NULL;
    for (struct program_wait *at = f->first; at != w; at = at->next)
        before = at;
    *(before ? &before->next : &f->first) = w->next;
    if (f->last == w)
        f->last = before;
    w->next = NULL;
    w->flight = NULL;
}

static void land(struct programs *ps, struct flight *f)
{
    struct flight **at = &ps->flights;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    free(f);
}

/* The first in line makes it; without one the flight is over. */
static void next_leader(struct programs *ps, struct flight *f)
{
    struct program_wait *w = f->first;
    f->leader = w;
    if (!w) {
        land(ps, f);
        return;
    }
    remove_wait(f, w);
    w->flight = f;
    w->answer(w, PROGRAM_YOURS, NULL);
}

static void answer_flight(struct programs *ps, struct flight *f, struct program *p)
{
    for (struct program_wait *w; (w = f->first);) {
        remove_wait(f, w);
        ps->counts.shared++; /* also by the first that it came from the disk for */
        w->answer(w, PROGRAM_HERE, hold(p));
    }
}

/* Those with other limits have it as well; who is making it for them goes on, or the look at the disk. */
static void answer_all(struct programs *ps, struct flight *f, struct program *p)
{
    for (struct flight *other = ps->flights; other; other = other->next)
        if (strcmp(other->key, f->key) == 0)
            answer_flight(ps, other, p);
    land(ps, f);
}

/* ---- the disk ---- */

enum disk_what { DISK_LOAD, DISK_KEEP, DISK_TOUCH, DISK_TRIM };

struct disk_job {
    uv_work_t work;
    struct programs *ps;
    enum disk_what what;
    char key[PROGRAM_KEY_SIZE];
    struct limits limits; /* of who waits, for DISK_LOAD */
    struct program_file file;
    struct err err;
    bool found;
};

static void disk_work(uv_work_t *work)
{
    struct disk_job *j = work->data;
    struct programs_disk *d = &j->ps->disk;
    if (j->what == DISK_LOAD)
        j->found = programs_disk_load(d, j->key, &j->file);
    else if (j->what == DISK_KEEP)
        (void)!programs_disk_keep(d, j->key, &j->file, &j->err);
    else if (j->what == DISK_TOUCH)
        programs_disk_touch(d, j->key);
    else
        programs_disk_trim(d);
}

static void loaded(struct programs *ps, struct disk_job *j)
{
    /* It stays while the disk is looked at. */
    struct flight *f = find_flight(ps, j->key, &j->limits);
    struct err e = { 0 };
    if (!f)
        return;
    struct program *p = j->found && f->first ? program_new(j->key, &j->file.how) : NULL;
    if (p && take_bundle(p, f->first->files, &j->file.made, &e) == 0) {
        ps->counts.from_disk++;
        answer_all(ps, f, p);
        remember_anew(ps, p);
        return;
    }
    next_leader(ps, f);
    program_release(p);
}

static void disk_done(struct programs *ps)
{
    programs_disk_done(&ps->disk);
    free(ps);
}

static void after_disk(uv_work_t *work, int status)
{
    struct disk_job *j = work->data;
    struct programs *ps = j->ps;
    (void)status;
    ps->jobs--;
    if (j->what == DISK_LOAD)
        loaded(ps, j);
    if (j->err.code != ERR_NONE)
        log_error(LOG_WARN, "programs.not_kept", &j->err);
    program_file_done(&j->file);
    free(j);
    if (ps->closing && ps->jobs == 0)
        disk_done(ps);
    else if (!ps->closing)
        ps->answered(ps->context);
}

/* Takes *file over, if any. */
static int disk_start(struct programs *ps, enum disk_what what, const char *key,
                      const struct limits *limits, struct program_file *file)
{
    struct disk_job *j = ps->disk.dir_fd >= 0 ? calloc(1, sizeof *j) : NULL;
    if (j) {
        j->ps = ps;
        j->what = what;
        j->work.data = j;
        (void)snprintf(j->key, sizeof j->key, "%s", key);
        if (limits)
            j->limits = *limits;
        if (file)
            j->file = *file;
        if (uv_queue_work(ps->loop, &j->work, disk_work, after_disk) == 0) {
            ps->jobs++;
            return 0;
        }
        free(j);
    }
    if (file)
        program_file_done(file);
    return -1;
}

/* ---- the whole ---- */

int programs_new(struct programs **ret, uv_loop_t *loop, void (*answered)(void *context),
                 void *context, struct err *e)
{
    struct programs *ps = calloc(1, sizeof *ps);
    if (!ps)
        return err_no_memory(e, "programs");
    ps->loop = loop;
    ps->answered = answered;
    ps->context = context;
    programs_disk_init(&ps->disk, -1, 0);
    *ret = ps;
    return 0;
}

void programs_free(struct programs *ps)
{
    if (!ps)
        return;
    while (ps->n_remembered > 0)
        program_release(forget(ps, 0));
    for (size_t i = 0; i < REFUSALS; i++)
        program_release(ps->refusals[i].program);
    while (ps->flights)
        land(ps, ps->flights);
    ps->closing = true;
    if (ps->jobs == 0)
        disk_done(ps);
}

void programs_set_dir(struct programs *ps, int dir_fd, uint64_t max_bytes)
{
    ps->disk.dir_fd = dir_fd;
    programs_set_max(ps, max_bytes);
}

void programs_set_max(struct programs *ps, uint64_t max_bytes)
{
    (void)pthread_mutex_lock(&ps->disk.lock);
    ps->disk.max = max_bytes;
    (void)pthread_mutex_unlock(&ps->disk.lock);
    (void)disk_start(ps, DISK_TRIM, "", NULL, NULL);
}

bool programs_busy(const struct programs *ps)
{
    return ps->jobs > 0;
}

struct programs_counts programs_counts(const struct programs *ps)
{
    return ps->counts;
}

/* ---- asking and telling ---- */

static struct program *from_memory(struct programs *ps, const char *key)
{
    struct program *p = recall(ps, key);
    uint64_t now = clock_ms();
    if (!p)
        return NULL;
    ps->counts.from_memory++;
    if (now - p->touched_ms >= TOUCH_MS) {
        p->touched_ms = now;
        (void)disk_start(ps, DISK_TOUCH, key, NULL, NULL);
    }
    return hold(p);
}

static void keep_refusal(struct programs *ps, struct program *p, const struct limits *limits)
{
    struct refusal *r = &ps->refusals[ps->next_refusal++ % REFUSALS];
    program_release(r->program);
    *r = (struct refusal){ .program = hold(p), .limits = *limits, .at_ms = clock_ms() };
}

static struct program *refused(struct programs *ps, const char *key, const struct limits *limits)
{
    uint64_t now = clock_ms();
    for (size_t i = 0; i < REFUSALS; i++) {
        struct refusal *r = &ps->refusals[i];
        if (r->program && now - r->at_ms >= REFUSAL_MS) {
            program_release(r->program);
            r->program = NULL;
        }
        if (r->program && strcmp(r->program->key, key) == 0 &&
            memcmp(&r->limits, limits, sizeof *limits) == 0)
            return hold(r->program);
    }
    return NULL;
}

enum program_answer programs_ask(struct programs *ps, const char *key, struct program_wait *w,
                                 struct program **ret)
{
    struct program *p = from_memory(ps, key);
    w->flight = NULL;
    if (p) {
        *ret = p;
        return PROGRAM_HERE;
    }
    p = refused(ps, key, &w->limits);
    if (p) {
        ps->counts.shared++;
        *ret = p;
        return PROGRAM_FAILED;
    }
    struct flight *f = find_flight(ps, key, &w->limits);
    if (f) {
        add_wait(f, w);
        return PROGRAM_LATER;
    }
    f = calloc(1, sizeof *f);
    if (!f) /* it makes it for itself alone */
        return PROGRAM_YOURS;
    (void)snprintf(f->key, sizeof f->key, "%s", key);
    f->limits = w->limits;
    f->next = ps->flights;
    ps->flights = f;
    if (disk_start(ps, DISK_LOAD, key, &w->limits, NULL) == 0) {
        add_wait(f, w);
        return PROGRAM_LATER;
    }
    f->leader = w;
    w->flight = f;
    return PROGRAM_YOURS;
}

int programs_made(struct programs *ps, struct program_wait *w, struct preparation *how,
                  const struct buf *made, struct program **ret, struct err *e)
{
    struct flight *f = w->flight;
    const char *key = f ? f->key : "";
    struct program *p = program_new(key, how);
    struct program_file file = { 0 };
    if (!p)
        return err_no_memory(e, "a program");
    if (take_bundle(p, w->files, made, e)) {
        program_release(p);
        return -1;
    }
    ps->counts.made++;
    *ret = p;
    if (!f)
        return 0;
    w->flight = NULL;
    file.how.usage = p->how.usage;
    bool copied = buf_add(&file.made, made->data, made->len, e) == 0;
    for (int i = 0; i < RUN_STREAMS; i++) {
        file.how.truncated[i] = p->how.truncated[i];
        copied = copied &&
                 buf_add(&file.how.said[i], p->how.said[i].data, p->how.said[i].len, e) == 0;
    }
    if (copied)
        (void)disk_start(ps, DISK_KEEP, p->key, NULL, &file);
    else
        program_file_done(&file);
    answer_all(ps, f, p);
    remember_anew(ps, hold(p));
    return 0;
}

/* The same limits would be met again. */
struct program *programs_failed(struct programs *ps, struct program_wait *w,
                                struct preparation *how)
{
    struct flight *f = w->flight;
    struct program *p = program_new(f ? f->key : "", how);
    ps->counts.failed++;
    if (!f)
        return p;
    w->flight = NULL;
    for (struct program_wait *other; p && (other = f->first);) {
        remove_wait(f, other);
        other->answer(other, PROGRAM_FAILED, hold(p));
    }
    if (p && p->how.verdict == VERDICT_COMPILE_ERROR)
        keep_refusal(ps, p, &w->limits);
    next_leader(ps, f);
    return p;
}

void programs_leave(struct programs *ps, struct program_wait *w)
{
    struct flight *f = w->flight;
    if (!f)
        return;
    if (f->leader != w) {
        remove_wait(f, w);
        return; /* who leads it, or the look at the disk, ends the flight */
    }
    w->flight = NULL;
    next_leader(ps, f);
}
