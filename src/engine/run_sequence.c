/* The stages that a caller defines: one program after the other in one jar. Each one has its own
 * evidence from outside, and its own verdict. Between two of them no process of a guest is left
 * (jar/sweep.c). The file of a stage is written again before that stage, because an earlier one may
 * have changed it; all other files are as the earlier stages left them. */
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/engine_impl.h"
#include "run/json.h"
#include "spec/bundle.h"

enum { SHOWN_MAX = 64 << 10 }; /* bytes of each stream, in the result of a stage */

static const struct caller_stage *current(const struct run *run)
{
    return &run->spec.stages[run->caller_stage];
}

bool run_sequence_is_last(const struct run *run)
{
    return run->caller_stage + 1 >= run->spec.n_stages;
}

void run_sequence_request(const struct run *run, struct jar_request *q)
{
    const struct caller_stage *s = current(run);
    q->language = s->language;
    q->main_name = s->main_name;
    q->limits = s->limits;
    q->kind = 0;
    q->stays = !run_sequence_is_last(run);
    q->is_next = run->caller_stage > 0;
    if (!q->is_next)
        return;
    q->id = run->jar_id;
    q->mounts = NULL;
    q->network = NULL;
}

int run_sequence_bundle(const struct run *run, struct buf *ret, struct err *e)
{
    struct bundle_entry f;
    bool more = true;
    for (size_t pos = 0; bundle_next(&run->spec.bundle, &pos, &f, &more, e) == 0 && more;)
        if (bundle_is_named(&f, current(run)->main_name))
            return bundle_add(ret, current(run)->main_name, f.head.mode, f.bytes,
                              (size_t)f.head.size, e);
    return err_set(e, ERR_KERNEL, 0, "the file of the stage '%s' is lost", current(run)->name);
}

int run_sequence_show(struct run *run, enum run_stream stream, const char *bytes, size_t n,
                      struct err *e)
{
    struct buf *shown = &run->stage_output[stream];
    size_t room = shown->len < SHOWN_MAX ? SHOWN_MAX - shown->len : 0;
    return buf_add(shown, bytes, n < room ? n : room, e);
}

void run_sequence_end_jar(struct run *run)
{
    struct err e;
    run->jar_rests = false;
    run->engine->slots[run->slot].run = NULL;
    fd_close(&run->jar.network_fd);
    if (wire_send_kill(run->engine->wire_fd, &(struct wire_kill){ run->jar_id, END_CANCEL }, &e))
        log_error(LOG_WARN, "stages", &e); /* a jar that rests ends by itself after a minute */
}

static void add_usage(struct usage *sum, const struct usage *u)
{
    sum->wall_us += u->wall_us;
    sum->cpu_us += u->cpu_us;
    if (u->memory_peak_bytes > sum->memory_peak_bytes)
        sum->memory_peak_bytes = u->memory_peak_bytes;
    if (u->pids_peak > sum->pids_peak)
        sum->pids_peak = u->pids_peak;
}

static void add_stream(json_t *o, struct run *run, enum run_stream stream, const char *key,
                       const char *cut_key)
{
    struct buf *shown = &run->stage_output[stream];
    bool cut = run->jar.streams[stream].seen > shown->len;
    if (cut)
        shown->len = text_whole(shown->data, shown->len);
    result_add_stream(o, key, shown);
    json_put(o, cut_key, json_boolean(cut));
    buf_done(shown);
}

static json_t *stage_head(const struct caller_stage *s)
{
    return json_pack("{s:s, s:s, s:i, s:o}", "name", s->name, "language", s->language->name,
                     "expect_exit", s->expect_exit, "limits", result_limits(&s->limits));
}

static json_t *stage_json(struct run *run, enum verdict verdict, bool passed)
{
    const struct evidence *ev = &run->jar.end.evidence;
    json_t *o = stage_head(current(run));
    json_put(o, "verdict", json_string(verdict_word(verdict)));
    json_put(o, "passed", json_boolean(passed));
    json_put(o, "exit_code", json_integer(verdict_exit_code(verdict, ev)));
    json_put(o, "signal", result_signal(ev->signal));
    json_put(o, "usage", result_usage(&run->jar.end.usage));
    json_put(o, "limits_hit", result_limit_set(ev->hits));
    add_stream(o, run, RUN_STDOUT, "stdout", "stdout_cut");
    add_stream(o, run, RUN_STDERR, "stderr", "stderr_cut");
    return o;
}

/* Its program ended by itself with the expected status. A limit, a signal and a
 * cancellation are never the expected end. */
static bool has_passed(const struct run *run, enum verdict verdict)
{
    const struct evidence *ev = &run->jar.end.evidence;
    return (verdict == VERDICT_OK || verdict == VERDICT_RUNTIME_ERROR) && ev->reason == END_EXIT &&
           ev->signal == 0 && ev->exit_code == current(run)->expect_exit;
}

/* The evidence of the run is that of its last stage. A status that was expected is a success, and
 * status 0 is a failure where another one was expected. */
static enum verdict settle(struct run *run, enum verdict verdict, bool passed)
{
    struct evidence *ev = &run->jar.end.evidence;
    run->jar.end.usage = run->caller_usage;
    if (passed) {
        ev->exit_code = 0;
        return VERDICT_OK;
    }
    if (verdict != VERDICT_OK)
        return verdict;
    ev->exit_code = 1;
    return VERDICT_RUNTIME_ERROR;
}

bool run_sequence_goes_on(struct run *run, enum verdict *verdict)
{
    bool passed = has_passed(run, *verdict), last = run_sequence_is_last(run);
    const struct buf *errors = &run->stage_output[RUN_STDERR];
    struct err e;
    if (!passed && buf_add(&run->failure_text, errors->data, errors->len, &e))
        log_error(LOG_WARN, "diagnosis", &e);
    if (!run->caller_results)
        run->caller_results = json_array();
    (void)json_array_append_new(run->caller_results, stage_json(run, *verdict, passed));
    add_usage(&run->caller_usage, &run->jar.end.usage);
    run->jar_rests = run->jar.end.rests;
    if (passed && !last && !run->jar_rests && !run->jar.cancelled) {
        (void)!err_set(&e, ERR_KERNEL, 0, "the jar ended after the stage '%s'", current(run)->name);
        run_fail(run, &e);
    }
    if (!passed || last || !run->jar_rests || run->jar.cancelled || run->error_text[0]) {
        if (run->jar.cancelled && passed && !last)
            *verdict = VERDICT_CANCELLED;
        else
            *verdict = settle(run, *verdict, passed);
        return false;
    }
    run->caller_stage++;
    run->has_jar = false;
    run->awaits_close = true;
    return true;
}

json_t *run_sequence_json(const struct run *run)
{
    json_t *list = run->caller_results ? json_copy(run->caller_results) : json_array();
    for (size_t i = json_array_size(list); i < run->spec.n_stages; i++) {
        json_t *o = stage_head(&run->spec.stages[i]);
        json_put(o, "verdict", json_null());
        json_put(o, "passed", json_false());
        (void)json_array_append_new(list, o);
    }
    return list;
}
