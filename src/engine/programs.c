#include "engine/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "run/program_disk.h"

/* The file of a program that is used from memory is marked as used this often. */
enum { TOUCH_MS = 60000 };
enum { CACHED_MAX = 256 }; /* each has a descriptor */

/* The requests for one key with the same limits, until there is an outcome. */
struct compilation {
    char key[PROGRAM_KEY_SIZE];
    struct limits limits;                 /* of the compiler */
    struct program_request *leader;       /* compiles; NULL while the disk is searched */
    struct program_request *first, *last; /* wait */
    struct compilation *next;
};

/* A recent failure of a compiler. The other inputs of a batch, and a caller who tries again at
 * once, get it without another compilation. */
struct recent_failure {
    struct program *program; /* NULL: the entry is unused */
    struct limits limits;
    uint64_t at_ms;
};
enum { FAILURES = 4, FAILURE_MS = 10000 };

struct programs {
    uv_loop_t *loop;
    void (*on_change)(void *context);
    void *context;
    struct compilation *compilations;
    struct program *cached[CACHED_MAX]; /* the least recently used is first */
    size_t n_cached;
    uint64_t cached_bytes;
    struct recent_failure failures[FAILURES];
    size_t next_failure;
    struct program_disk disk;
    unsigned jobs;
    bool closing;
    struct programs_counts counts;
};

/* ---- programs ---- */

void program_unref(struct program *p)
{
    if (!p || --p->refs > 0)
        return;
    stage_result_done(&p->result);
    fd_close(&p->bundle_fd);
    free(p);
}

static struct program *program_ref(struct program *p)
{
    p->refs++;
    return p;
}

/* Takes over *result, also on failure. */
static struct program *program_new(const char *key, struct stage_result *result)
{
    struct program *p = calloc(1, sizeof *p);
    if (!p) {
        stage_result_done(result);
        return NULL;
    }
    (void)snprintf(p->key, sizeof p->key, "%s", key);
    p->result = *result;
    *result = (struct stage_result){ 0 };
    p->bundle_fd = -1;
    p->refs = 1;
    p->touched_ms = clock_ms();
    return p;
}

static int merge_bundle(struct program *p, const struct buf *files, const struct buf *products,
                        struct err *e)
{
    scoped(buf) merged = { 0 };
    if (stage_merge(files, products, &merged, e) ||
        fd_sealed_memory("belljar-files", &merged, &p->bundle_fd, e))
        return -1;
    p->bytes = sizeof *p + merged.len + p->result.output[RUN_STDOUT].len +
               p->result.output[RUN_STDERR].len;
    return 0;
}

/* ---- memory ---- */

/* The caller gets the reference. */
static struct program *cache_remove(struct programs *ps, size_t at)
{
    struct program *p = ps->cached[at];
    ps->cached_bytes -= p->bytes;
    ps->n_cached--;
    for (size_t i = at; i < ps->n_cached; i++)
        ps->cached[i] = ps->cached[i + 1];
    return p;
}

/* Takes over a reference. A program of more than half the cache would drive out too many others. */
static void cache_add(struct programs *ps, struct program *p)
{
    if (p->bytes > PROGRAMS_MEMORY / 2) {
        program_unref(p);
        return;
    }
    while (ps->n_cached == CACHED_MAX ||
           (ps->n_cached > 0 && ps->cached_bytes + p->bytes > PROGRAMS_MEMORY))
        program_unref(cache_remove(ps, 0));
    ps->cached[ps->n_cached++] = p;
    ps->cached_bytes += p->bytes;
}

/* A program may have been compiled twice, with different limits. */
static void cache_replace(struct programs *ps, struct program *p)
{
    for (size_t i = ps->n_cached; i > 0; i--)
        if (strcmp(ps->cached[i - 1]->key, p->key) == 0)
            program_unref(cache_remove(ps, i - 1));
    cache_add(ps, p);
}

static struct program *cache_find(struct programs *ps, const char *key)
{
    for (size_t i = ps->n_cached; i > 0; i--) {
        if (strcmp(ps->cached[i - 1]->key, key) != 0)
            continue;
        struct program *p = cache_remove(ps, i - 1);
        cache_add(ps, p);
        return p;
    }
    return NULL;
}

/* ---- requests ---- */

/* A compiler with other limits may have a hundredth of a CPU and minutes of time (PROGRAMS-2). */
static struct compilation *find_compilation(const struct programs *ps, const char *key,
                                            const struct limits *limits)
{
    for (struct compilation *c = ps->compilations; c; c = c->next)
        if (strcmp(c->key, key) == 0 && memcmp(&c->limits, limits, sizeof *limits) == 0)
            return c;
    return NULL;
}

static void add_waiting(struct compilation *c, struct program_request *q)
{
    q->compilation = c;
    q->next = NULL;
    *(c->last ? &c->last->next : &c->first) = q;
    c->last = q;
}

static void remove_waiting(struct compilation *c, struct program_request *q)
{
    struct program_request *before = NULL;
    for (struct program_request *at = c->first; at != q; at = at->next)
        before = at;
    *(before ? &before->next : &c->first) = q->next;
    if (c->last == q)
        c->last = before;
    q->next = NULL;
    q->compilation = NULL;
}

static void compilation_free(struct programs *ps, struct compilation *c)
{
    struct compilation **at = &ps->compilations;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

/* The first request in line compiles. Without one the compilation is over. */
static void choose_leader(struct programs *ps, struct compilation *c)
{
    struct program_request *q = c->first;
    c->leader = q;
    if (!q) {
        compilation_free(ps, c);
        return;
    }
    remove_waiting(c, q);
    q->compilation = c;
    q->on_answer(q, PROGRAM_COMPILE_IT, NULL);
}

static void answer_waiting(struct programs *ps, struct compilation *c, struct program *p)
{
    for (struct program_request *q; (q = c->first);) {
        remove_waiting(c, q);
        ps->counts.shared++; /* counts the request that caused a load from the disk, too */
        q->on_answer(q, PROGRAM_READY, program_ref(p));
    }
}

/* Requests with other limits are answered as well. Their own compiler, or their search of the disk,
 * goes on. */
static void answer_all(struct programs *ps, struct compilation *c, struct program *p)
{
    for (struct compilation *other = ps->compilations; other; other = other->next)
        if (strcmp(other->key, c->key) == 0)
            answer_waiting(ps, other, p);
    compilation_free(ps, c);
}

/* ---- the disk ---- */

enum disk_task { DISK_LOAD, DISK_KEEP, DISK_TOUCH, DISK_TRIM };

struct disk_job {
    uv_work_t work;
    struct programs *ps;
    enum disk_task task;
    char key[PROGRAM_KEY_SIZE];
    struct limits limits; /* of the requests, for DISK_LOAD */
    struct program_file file;
    struct err err;
    bool found;
};

static void run_disk_job(uv_work_t *work)
{
    struct disk_job *j = work->data;
    struct program_disk *d = &j->ps->disk;
    if (j->task == DISK_LOAD)
        j->found = program_disk_load(d, j->key, &j->file);
    else if (j->task == DISK_KEEP)
        (void)!program_disk_keep(d, j->key, &j->file, &j->err);
    else if (j->task == DISK_TOUCH)
        program_disk_touch(d, j->key);
    else
        program_disk_trim(d);
}

static void on_loaded(struct programs *ps, struct disk_job *j)
{
    /* It exists at least as long as the search of the disk. */
    struct compilation *c = find_compilation(ps, j->key, &j->limits);
    struct err e = { 0 };
    if (!c)
        return;
    struct program *p = j->found && c->first ? program_new(j->key, &j->file.result) : NULL;
    if (p && merge_bundle(p, c->first->files, &j->file.products, &e) == 0) {
        ps->counts.from_disk++;
        answer_all(ps, c, p);
        cache_replace(ps, p);
        return;
    }
    choose_leader(ps, c);
    program_unref(p);
}

static void free_programs(struct programs *ps)
{
    program_disk_done(&ps->disk);
    free(ps);
}

static void on_disk_job_done(uv_work_t *work, int status)
{
    struct disk_job *j = work->data;
    struct programs *ps = j->ps;
    (void)status;
    ps->jobs--;
    if (j->task == DISK_LOAD)
        on_loaded(ps, j);
    if (j->err.code != ERR_NONE)
        log_error(LOG_WARN, "programs.not_kept", &j->err);
    program_file_done(&j->file);
    free(j);
    if (ps->closing && ps->jobs == 0)
        free_programs(ps);
    else if (!ps->closing)
        ps->on_change(ps->context);
}

/* Takes over *file, if there is one. */
static int start_disk_job(struct programs *ps, enum disk_task task, const char *key,
                          const struct limits *limits, struct program_file *file)
{
    struct disk_job *j = ps->disk.dir_fd >= 0 ? calloc(1, sizeof *j) : NULL;
    if (j) {
        j->ps = ps;
        j->task = task;
        j->work.data = j;
        (void)snprintf(j->key, sizeof j->key, "%s", key);
        if (limits)
            j->limits = *limits;
        if (file)
            j->file = *file;
        if (uv_queue_work(ps->loop, &j->work, run_disk_job, on_disk_job_done) == 0) {
            ps->jobs++;
            return 0;
        }
        free(j);
    }
    if (file)
        program_file_done(file);
    return -1;
}

/* ---- the cache ---- */

int programs_new(struct programs **ret, uv_loop_t *loop, void (*on_change)(void *context),
                 void *context, struct err *e)
{
    struct programs *ps = calloc(1, sizeof *ps);
    if (!ps)
        return err_no_memory(e, "programs");
    ps->loop = loop;
    ps->on_change = on_change;
    ps->context = context;
    program_disk_init(&ps->disk, -1, 0);
    *ret = ps;
    return 0;
}

void programs_free(struct programs *ps)
{
    if (!ps)
        return;
    while (ps->n_cached > 0)
        program_unref(cache_remove(ps, 0));
    for (size_t i = 0; i < FAILURES; i++)
        program_unref(ps->failures[i].program);
    while (ps->compilations)
        compilation_free(ps, ps->compilations);
    ps->closing = true;
    if (ps->jobs == 0)
        free_programs(ps);
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
    (void)start_disk_job(ps, DISK_TRIM, "", NULL, NULL);
}

bool programs_busy(const struct programs *ps)
{
    return ps->jobs > 0;
}

struct programs_counts programs_counts(const struct programs *ps)
{
    return ps->counts;
}

/* ---- the outcome of a compilation ---- */

static struct program *take_from_memory(struct programs *ps, const char *key)
{
    struct program *p = cache_find(ps, key);
    uint64_t now = clock_ms();
    if (!p)
        return NULL;
    ps->counts.from_memory++;
    if (now - p->touched_ms >= TOUCH_MS) {
        p->touched_ms = now;
        (void)start_disk_job(ps, DISK_TOUCH, key, NULL, NULL);
    }
    return program_ref(p);
}

static void remember_failure(struct programs *ps, struct program *p, const struct limits *limits)
{
    struct recent_failure *f = &ps->failures[ps->next_failure++ % FAILURES];
    program_unref(f->program);
    *f = (struct recent_failure){ .program = program_ref(p),
                                  .limits = *limits,
                                  .at_ms = clock_ms() };
}

static struct program *find_failure(struct programs *ps, const char *key,
                                    const struct limits *limits)
{
    uint64_t now = clock_ms();
    for (size_t i = 0; i < FAILURES; i++) {
        struct recent_failure *f = &ps->failures[i];
        if (f->program && now - f->at_ms >= FAILURE_MS) {
            program_unref(f->program);
            f->program = NULL;
        }
        if (f->program && strcmp(f->program->key, key) == 0 &&
            memcmp(&f->limits, limits, sizeof *limits) == 0)
            return program_ref(f->program);
    }
    return NULL;
}

enum program_answer programs_request(struct programs *ps, const char *key,
                                     struct program_request *q, struct program **ret)
{
    struct program *p = take_from_memory(ps, key);
    q->compilation = NULL;
    if (p) {
        *ret = p;
        return PROGRAM_READY;
    }
    p = find_failure(ps, key, &q->limits);
    if (p) {
        ps->counts.shared++;
        *ret = p;
        return PROGRAM_FAILED;
    }
    struct compilation *c = find_compilation(ps, key, &q->limits);
    if (c) {
        add_waiting(c, q);
        return PROGRAM_PENDING;
    }
    c = calloc(1, sizeof *c);
    if (!c) /* out of memory: the run compiles for itself alone */
        return PROGRAM_COMPILE_IT;
    (void)snprintf(c->key, sizeof c->key, "%s", key);
    c->limits = q->limits;
    c->next = ps->compilations;
    ps->compilations = c;
    if (start_disk_job(ps, DISK_LOAD, key, &q->limits, NULL) == 0) {
        add_waiting(c, q);
        return PROGRAM_PENDING;
    }
    c->leader = q;
    q->compilation = c;
    return PROGRAM_COMPILE_IT;
}

int programs_put(struct programs *ps, struct program_request *q, struct stage_result *result,
                 const struct buf *products, struct program **ret, struct err *e)
{
    struct compilation *c = q->compilation;
    const char *key = c ? c->key : "";
    struct program *p = program_new(key, result);
    struct program_file file = { 0 };
    if (!p)
        return err_no_memory(e, "a program");
    if (merge_bundle(p, q->files, products, e)) {
        program_unref(p);
        return -1;
    }
    ps->counts.compiled++;
    *ret = p;
    if (!c)
        return 0;
    q->compilation = NULL;
    /* A compiler that ended well although it met a limit may have made another program than it would
     * otherwise. The requests that wait have the same limits; nobody else gets the program. */
    if (p->result.evidence.hits) {
        answer_all(ps, c, p);
        return 0;
    }
    file.result.usage = p->result.usage;
    bool copied = buf_add(&file.products, products->data, products->len, e) == 0;
    for (int i = 0; i < RUN_STREAMS; i++) {
        file.result.truncated[i] = p->result.truncated[i];
        copied = copied && buf_add(&file.result.output[i], p->result.output[i].data,
                                   p->result.output[i].len, e) == 0;
    }
    if (copied)
        (void)start_disk_job(ps, DISK_KEEP, p->key, NULL, &file);
    else
        program_file_done(&file);
    answer_all(ps, c, p);
    cache_replace(ps, program_ref(p));
    return 0;
}

/* The waiting requests have the same limits, so their compiler would fail, too. */
struct program *programs_fail(struct programs *ps, struct program_request *q,
                              struct stage_result *result)
{
    struct compilation *c = q->compilation;
    struct program *p = program_new(c ? c->key : "", result);
    ps->counts.failed++;
    if (!c)
        return p;
    q->compilation = NULL;
    for (struct program_request *other; p && (other = c->first);) {
        remove_waiting(c, other);
        other->on_answer(other, PROGRAM_FAILED, program_ref(p));
    }
    if (p && p->result.verdict == VERDICT_COMPILE_ERROR)
        remember_failure(ps, p, &q->limits);
    choose_leader(ps, c);
    return p;
}

void programs_cancel(struct programs *ps, struct program_request *q)
{
    struct compilation *c = q->compilation;
    if (!c)
        return;
    if (c->leader != q) {
        remove_waiting(c, q);
        return; /* the leader, or the search of the disk, ends the compilation */
    }
    q->compilation = NULL;
    choose_leader(ps, c);
}
