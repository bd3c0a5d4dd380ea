/* The stages of a run before its program. For each stage the run gets the product from the cache,
 * waits for another run that compiles the same program, or compiles. All the time it counts as
 * running, whether it has a jar or not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "engine/engine_impl.h"

/* ---- the jar of a stage ---- */

struct jar_request run_jar_request(const struct run *run)
{
    const struct run_spec *s = &run->spec;
    struct engine *engine = run->engine;
    /* Without pools every start is cold, also while the last embryos end. */
    bool cold = engine->isolation.level == LEVEL_PROCESS || engine->pools.settings.max == 0;
    return (struct jar_request){ .language = s->language,
                                 .main_name = s->main_name,
                                 .args = s->args,
                                 .env = s->env,
                                 .outputs = s->outputs,
                                 .limits = s->limits,
                                 .writable_root = s->writable_root,
                                 .mounts = s->mounts,
                                 .options = &s->options,
                                 .network = &s->network,
                                 .porter = &engine->porter,
                                 .no_values = engine->limits.no_values,
                                 .kind = cold ? 0 : run->kind };
}

/* ---- runs that can go on ---- */

void run_stages_set_resumable(struct run *run)
{
    struct engine *engine = run->engine;
    run->is_resumable = true;
    run->next_resumable = NULL;
    *(engine->last_resumable ? &engine->last_resumable->next_resumable
                             : &engine->first_resumable) = run;
    engine->last_resumable = run;
}

static void clear_resumable(struct run *run)
{
    struct engine *engine = run->engine;
    struct run *before = NULL;
    if (!run->is_resumable)
        return;
    for (struct run *at = engine->first_resumable; at != run; at = at->next_resumable)
        before = at;
    *(before ? &before->next_resumable : &engine->first_resumable) = run->next_resumable;
    if (engine->last_resumable == run)
        engine->last_resumable = before;
    run->is_resumable = false;
}

struct run *run_stages_pop_resumable(struct engine *engine)
{
    struct run *run = engine->first_resumable;
    if (run)
        clear_resumable(run);
    return run;
}

void run_stages_cancel(struct run *run)
{
    clear_resumable(run);
    run->awaits_close = false;
    programs_cancel(run->engine->programs, &run->request);
}

/* ---- the product of a stage ---- */

/* Takes over the reference. */
static void set_program(struct run *run, struct program *p, bool cached)
{
    program_unref(run->program);
    run->program = p;
    run->program_cached = cached;
}

/* engine_start_runs() resumes the run when there is room. */
static void on_answer(struct program_request *q, enum program_answer answer, struct program *p)
{
    struct run *run = (struct run *)((char *)q - offsetof(struct run, request));
    run->answer = answer;
    if (p)
        set_program(run, p, answer == PROGRAM_READY);
    run_stages_set_resumable(run);
}

const struct buf *run_stages_files(const struct run *run)
{
    return run->is_split ? &run->compiled_files : &run->spec.bundle;
}

static int read_bundle(int fd, struct buf *ret, struct err *e)
{
    struct stat st;
    scoped(buf) b = { 0 };
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the files of a program");
    if (buf_reserve(&b, (size_t)st.st_size, e))
        return -1;
    while (b.len < (size_t)st.st_size) {
        ssize_t n = pread(fd, b.data + b.len, (size_t)st.st_size - b.len, (off_t)b.len);
        if (n <= 0)
            return err_set(e, ERR_KERNEL, errno, "read the files of a program");
        b.len += (size_t)n;
    }
    *ret = b;
    b = (struct buf){ 0 };
    return 0;
}

int run_stages_bundle(const struct run *run, int *ret_fd, struct err *e)
{
    scoped(buf) program = { 0 }, joined = { 0 };
    bool is_program = run_stage(run) == STAGE_RUN;
    const struct buf *files = is_program ? &run->spec.bundle : run_stages_files(run);
    if (run->caller_stage > 0) {
        if (run_sequence_bundle(run, &program, e))
            return -1;
        files = &program;
    }
    if (is_program && run->program) {
        if (!run->is_split)
            return 0;
        if (read_bundle(run->program->bundle_fd, &program, e) ||
            stage_join(&program, &run->run_only_files, &joined, e))
            return -1;
        files = &joined;
    }
    return fd_sealed_memory("belljar-files", files, ret_fd, e);
}

static int request_product(struct run *run, struct err *e)
{
    struct engine *engine = run->engine;
    const struct run_spec *s = &run->spec;
    char key[PROGRAM_KEY_SIZE];
    autofree char **sources = NULL;
    struct program *p = NULL;
    if (stage_installed(s->language, &run->jar.end.err)) {
        *e = run->jar.end.err; /* the result shows its code as well */
        return -1;
    }
    const struct buf *files = run_stages_files(run);
    if (stage_sources(s->language, s->main_name, files, &sources, e))
        return -1;
    struct jar_request whole = run_jar_request(run);
    whole.sources = sources;
    struct jar_request stage = stage_request(run_stage(run), &whole);
    if (program_key(key, &stage, engine->isolation.level, files, e))
        return -1;
    run->request = (struct program_request){ .on_answer = on_answer,
                                             .files = files,
                                             .limits = stage.limits };
    run->answer = s->options.no_cache ? PROGRAM_COMPILE_IT /* for itself alone */
                                      : programs_request(engine->programs, key, &run->request, &p);
    if (p)
        set_program(run, p, true);
    return 0;
}

/* The output of the compiler becomes the output of the run. */
static enum stages_step refuse(struct run *run, struct err *e)
{
    static const enum journal_kind kinds[RUN_STREAMS] = { JOURNAL_STDOUT, JOURNAL_STDERR };
    enum { PIECE = 64 << 10 };
    const struct stage_result *result = &run->program->result;
    for (int i = 0; i < RUN_STREAMS; i++) {
        const struct buf *output = &result->output[i];
        for (size_t at = 0; at < output->len; at += PIECE) {
            size_t n = output->len - at < PIECE ? output->len - at : (size_t)PIECE;
            if (journal_add(&run->journal, kinds[i], result->usage.wall_us, output->data + at, n,
                            e))
                return STAGES_ERROR;
        }
    }
    return STAGES_REFUSED;
}

enum stages_step run_stages_advance(struct run *run, struct err *e)
{
    if (run->stage == 0 && !run->is_split &&
        stage_split(&run->spec.bundle, &run->is_split, &run->compiled_files, &run->run_only_files,
                    e))
        return STAGES_ERROR;
    while (run_stage(run) != STAGE_RUN) {
        if (run->answer == PROGRAM_NOT_REQUESTED && request_product(run, e))
            return STAGES_ERROR;
        if (run->answer == PROGRAM_PENDING)
            return STAGES_WAIT;
        if (run->answer == PROGRAM_FAILED)
            return refuse(run, e);
        if (run->answer == PROGRAM_COMPILE_IT)
            return STAGES_ENTER_JAR;
        run->stage++;
        run->answer = PROGRAM_NOT_REQUESTED;
    }
    return STAGES_ENTER_JAR;
}

enum stages_step run_stages_take_result(struct run *run, struct stage_result *result,
                                        const struct buf *products, struct err *e)
{
    struct programs *programs = run->engine->programs;
    struct program *p = NULL;
    if (result->verdict != VERDICT_OK) {
        set_program(run, programs_fail(programs, &run->request, result), false);
        if (run->program)
            return refuse(run, e);
        (void)!err_no_memory(e, "a program");
        return STAGES_ERROR;
    }
    if (programs_put(programs, &run->request, result, products, &p, e))
        return STAGES_ERROR;
    set_program(run, p, false);
    run->answer = PROGRAM_READY;
    run->awaits_close = true;
    return STAGES_WAIT;
}
