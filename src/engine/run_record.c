/* The result of a run, and the rows that it leaves: one when it is accepted, one when it is over,
 * and an audit record with each. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "examiner/findings.h"
#include "run/json.h"
#include "store/audit_log.h"
#include "suite/suite.h"

/* ---- the result ---- */

/* The output of a failed program, for its diagnosis, or of a test runner; nothing of another program
 * that ended well. */
static void read_output(const struct run *run, struct buf *out, struct buf *err)
{
    enum { STDOUT_SEEN = 64 << 10 };
    struct err e;
    bool reports = run->spec.options.test_runner != TEST_RUNNER_NONE || run->spec.options.check;
    if (run->result.verdict == VERDICT_OK && !reports)
        return;
    if (run->failure_text.len > 0) {
        if (buf_add(err, run->failure_text.data, run->failure_text.len, &e))
            log_error(LOG_WARN, "diagnosis", &e);
        return;
    }
    if (journal_both_ends(&run->journal, JOURNAL_STDERR, DIAGNOSE_TEXT_MAX, err, &e) ||
        journal_both_ends(&run->journal, JOURNAL_STDOUT, reports ? SUITE_TEXT_MAX : STDOUT_SEEN,
                          out, &e))
        log_error(LOG_WARN, "diagnosis", &e);
}

/* Of the program that ended last. */
static const struct language *run_program_language(const struct run *run)
{
    return run->spec.n_stages > 0 ? run->spec.stages[run->caller_stage].language
                                  : run->spec.language;
}

static struct findings_input findings_input_of(struct run *run)
{
    return (struct findings_input){
        .explain = true,
        .is_cell = run->spec.host && !run->spec.host->takes_turns,
        .cell = run->cell,
        .language = run_program_language(run),
        .main_name = run->spec.n_stages > 0 ? run->spec.stages[run->caller_stage].main_name
                                            : run->spec.main_name,
        .sources = &run->spec.bundle,
        .code = run->spec.code,
        .compiling = run->result.verdict == VERDICT_COMPILE_ERROR,
        .result = &run->result,
        .options = &run->spec.options,
        .outputs = &run->files,
        .told = run->engine->limits.no_values || run->spec.options.values == VALUES_NONE
                    ? NULL
                    : &run->told,
        .has_network = run->spec.network.mode != NETWORK_NONE,
        .network_advice = run->network_advice,
        .network_list = run->network_list,
        .samples = run->samples,
    };
}

/* The end of the program itself. A run without its program has neither usage nor start. */
static void add_program(const struct run *run, struct result *result)
{
    const struct jar_run *jar = &run->jar;
    if (run_stage(run) != STAGE_RUN)
        return;
    result->usage = jar->end.usage;
    result->start = jar->started ? start_word(jar->start) : NULL;
    for (int i = 0; i < RUN_STREAMS; i++)
        result->truncated[i] = jar->streams[i].truncated;
}

/* The end of its compiler, if it has one. */
static void add_compiler(const struct run *run, struct result *result)
{
    const struct program *p = run->program;
    if (!p)
        return;
    result->compile = stage_result_json(&p->result, run->program_cached, p->key[0] ? p->key : NULL);
    if (result->verdict != VERDICT_COMPILE_ERROR)
        return;
    result->evidence = stage_result_evidence(&p->result);
    for (int i = 0; i < RUN_STREAMS; i++)
        result->truncated[i] = p->result.truncated[i];
}

static json_t *make_result_json(struct run *run, const struct findings *found)
{
    const struct result_service service = {
        .stdout_bytes = run->journal.stream_bytes[JOURNAL_STDOUT],
        .stderr_bytes = run->journal.stream_bytes[JOURNAL_STDERR],
        .queued_at_ms = (uint64_t)run->queued_at_ms,
        .finished_at_ms = (uint64_t)run->finished_at_ms,
        .waited_ms = run->waited_us / 1000,
        .thread = run->spec.thread,
        .artifact = run->spec.artifact,
        .batch = run->spec.batch,
        .metadata = run->spec.metadata,
        .extraction = run->spec.extraction,
    };
    struct result *r = &run->result;
    r->diagnosis = found->diagnosis;
    r->tables = found->tables;
    r->profile = found->profile;
    r->displays = found->displays;
    r->tests = found->tests;
    r->check = found->check;
    r->checks = run->spec.options.check;
    r->test_runner = run->spec.options.test_runner;
    r->service = &service;
    json_t *json = result_json(r);
    (void)json_object_update(json, run->host_fields);
    r->service = NULL;
    json_decref(r->compile);
    json_decref(r->stages);
    json_decref(r->network);
    r->network = NULL;
    r->compile = r->stages = r->diagnosis = r->tables = r->profile = r->displays = r->tests = NULL;
    r->check = NULL;
    return json;
}

static void complete(struct run *run, const struct answer *answer)
{
    struct findings_input in = findings_input_of(run);
    struct findings found = findings_take(&in, answer);
    run->result_json = make_result_json(run, &found);
    findings_done(&found);
    if (!run->spec.aftermath) {
        run->on_found(run);
        return;
    }
    queue_remove(run->engine, run); /* its tries need places */
    run->spec.aftermath->begin(run->spec.aftermath, run);
}

void run_explained(struct run *run)
{
    run->on_found(run);
}

static void on_examined(struct examination *x, const struct answer *answer)
{
    complete((struct run *)((char *)x - offsetof(struct run, examination)), answer);
}

void run_find(struct run *run, void (*on_found)(struct run *run))
{
    struct examination *x = &run->examination;
    struct findings_input in = findings_input_of(run);
    scoped(buf) out = { 0 }, err = { 0 };
    struct err e = { 0 };
    read_output(run, &out, &err);
    in.out = &out;
    in.err = &err;
    *x = (struct examination){ .id = examination_id(run->engine),
                               .key = run->spec.key,
                               .modules = findings_modules(&in),
                               .on_done = on_examined };
    run->on_found = on_found;
    if (findings_ask(&in, x->id, &x->question, &e))
        log_error(LOG_WARN, "diagnosis", &e);
    if (x->question.len > 0)
        examine(run->engine, x);
    else
        complete(run, NULL);
}

/* The result goes to the client. The whole message is for the log. */
static void hide_paths(struct run *run)
{
    struct err e = { .code = run->jar.end.err.code };
    (void)snprintf(e.text, sizeof e.text, "%s", run->error_text);
    (void)snprintf(run->error_text, sizeof run->error_text, "%s", ERR_SHOWN(&e));
    (void)!err_wrap(&e, "run %s", run->id);
    log_error(LOG_WARN, "run.failed", &e);
}

void run_make_result(struct run *run, enum verdict verdict)
{
    const struct jar_run *jar = &run->jar;
    bool failed = verdict == VERDICT_INTERNAL_ERROR;
    if (run->error_text[0] == '\0' && failed)
        (void)snprintf(run->error_text, sizeof run->error_text, "%s", jar->end.err.text);
    if (failed)
        hide_paths(run);
    run->result = (struct result){
        .id = run->id,
        .language = run->spec.language->name,
        .version = engine_version(run->engine, run->spec.language),
        .verdict = verdict,
        .evidence = jar->end.evidence,
        .limits = run->spec.limits,
        .isolation = jar->isolation.level != LEVEL_AUTO ? jar->isolation : run->engine->isolation,
        .files = &run->files,
        .error = run->error_text[0] ? run->error_text : NULL,
        .error_code = failed ? jar->end.err.code : ERR_NONE,
        .started_at_ms = (uint64_t)run->started_at_ms,
    };
    add_program(run, &run->result);
    run_add_network(run, &run->result);
    add_compiler(run, &run->result);
    if (run->spec.n_stages > 0)
        run->result.stages = run_sequence_json(run);
}

/* ---- the records ---- */

/* The input of the writer thread. Its strings belong to the run, which stays as long as it has
 * store jobs. */
struct record_job {
    struct store_job job;
    struct run *run;
    run_record_written *on_written;
    struct run_record row;
    struct audit_record audit;
    char *detail;
};

static struct record_job *job_new(struct run *run, const char *kind, char *detail,
                                  run_record_written *on_written)
{
    struct record_job *j = calloc(1, sizeof *j);
    if (!j) {
        free(detail);
        return NULL;
    }
    const struct run_spec *s = &run->spec;
    j->run = run;
    j->on_written = on_written;
    j->row = (struct run_record){
        .state = run->state,
        .id = run->id,
        .language = (char *)s->language->name,
        .key = s->key,
        .thread = s->thread,
        .artifact = s->artifact,
        .batch = s->batch,
        .surface = s->surface,
        .request = s->request,
        .code = s->code,
        .created_ms = run->queued_at_ms,
        .started_ms = run->started_at_ms,
        .finished_ms = run->finished_at_ms,
    };
    j->detail = detail;
    j->audit = (struct audit_record){
        .kind = kind, .subject = run->id, .actor = s->actor ? s->actor : "service", .detail = detail
    };
    run->store_jobs++;
    return j;
}

static void on_job_done(struct store_job *job)
{
    struct record_job *j = (struct record_job *)job;
    struct run *run = j->run;
    run_record_written *on_written = j->on_written;
    struct err e = job->err;
    run->store_jobs--;
    free(j->row.result);
    free(j->detail);
    free(j);
    on_written(run, &e);
}

/* In the writer thread: the files may be large. The run cannot begin before its row is written, so
 * its spec does not change meanwhile. */
static int describe_accepted(struct record_job *j, struct err *e)
{
    const struct run_spec *s = &j->run->spec;
    char digest[DIGEST_HEX];
    run_spec_digest(s, digest);
    j->detail = json_line(json_pack(
        "{s:s, s:s*, s:s*, s:s*, s:s*, s:s}", "language", s->language->name, "surface", s->surface,
        "thread_id", s->thread, "artifact_id", s->artifact, "batch_id", s->batch, "spec", digest));
    j->audit.detail = j->detail;
    return j->detail ? 0 : err_no_memory(e, "the record of a run");
}

static int write_accepted(struct db *db, struct store_job *job, struct err *e)
{
    struct record_job *j = (struct record_job *)job;
    if (describe_accepted(j, e))
        return -1;
    return runs_insert(db, &j->row, e) || audit_append(db, &j->audit, e) ? -1 : 0;
}

int run_record_accepted(struct run *run, run_record_written *on_written, struct err *e)
{
    struct record_job *j = job_new(run, "run.accepted", NULL, on_written);
    if (!j)
        return err_no_memory(e, "the record of a run");
    j->audit.time_ms = run->queued_at_ms;
    j->job.work = write_accepted;
    j->job.done = on_job_done;
    store_write(run->engine->store, &j->job);
    return 0;
}

static int write_finished(struct db *db, struct store_job *job, struct err *e)
{
    struct record_job *j = (struct record_job *)job;
    return runs_finish(db, &j->row, e) || audit_append(db, &j->audit, e) ? -1 : 0;
}

/* With a network: its numbers, and the hash of the whole log, which the history has. */
static char *finished_detail(const struct run *run)
{
    const struct result *r = &run->result;
    json_t *o = json_pack("{s:s, s:i}", "verdict", verdict_word(r->verdict), "exit_code",
                          verdict_exit_code(r->verdict, &r->evidence));
    json_t *network = json_object_get(run->result_json, "network");
    if (json_is_object(network)) {
        autofree char *log = json_dumps(json_object_get(network, "log"),
                                        JSON_COMPACT | JSON_DIGITS);
        char digest[DIGEST_HEX] = "";
        struct digest d;
        digest_begin(&d);
        digest_add_text(&d, log);
        (void)digest_end_hex(&d, digest);
        json_put(o, "network",
                 json_pack("{s:O, s:O, s:O, s:O, s:s}", "connections",
                           json_object_get(network, "connections"), "denied",
                           json_object_get(network, "denied"), "bytes_in",
                           json_object_get(network, "bytes_in"), "bytes_out",
                           json_object_get(network, "bytes_out"), "log", digest));
    }
    return json_line(o);
}

void run_record_finished(struct run *run, run_record_written *on_written)
{
    const struct result *r = &run->result;
    struct err e = { 0 };
    char *detail = finished_detail(run);
    struct record_job *j = job_new(run, "run.finished", detail, on_written);
    if (!j) {
        (void)!err_no_memory(&e, "the record of a run");
        on_written(run, &e);
        return;
    }
    j->audit.time_ms = run->finished_at_ms;
    j->row.verdict = (char *)verdict_word(r->verdict);
    j->row.result = json_dumps(run->result_json, JSON_COMPACT | JSON_DIGITS);
    j->row.wall_us = (int64_t)r->usage.wall_us;
    j->row.cpu_us = (int64_t)r->usage.cpu_us;
    j->row.memory_peak = (int64_t)r->usage.memory_peak_bytes;
    j->row.journal = run->journal.memory; /* lent: it grows no longer */
    j->row.journal_in_file = run->journal.fd >= 0;
    if (!run->spec.files_not_in_history)
        j->row.files = run->files; /* lent as well */
    j->job.work = write_finished;
    j->job.done = on_job_done;
    store_write(run->engine->store, &j->job);
}
