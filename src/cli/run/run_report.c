/* Makes the result of a run, and prints it. */
#include "cli/run/run_report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/auto.h"
#include "cli/run/diagnosis_view.h"
#include "cli/run/end_note.h"
#include "examiner/exchange.h"
#include "network/advice.h"
#include "run/json.h"
#include "run/network_json.h"
#include "run/result.h"
#include "runtime/version.h"

struct evidence run_report_evidence(const struct run_report *r)
{
    return r->verdict == VERDICT_COMPILE_ERROR ? stage_result_evidence(r->prepared)
                                               : r->run->end.evidence;
}

void run_report_note(const struct run_report *r)
{
    const struct err *why = &r->run->end.err;
    end_note_print(&(struct end_note){
        .verdict = r->verdict,
        .compiler = r->verdict == VERDICT_COMPILE_ERROR ? r->prepared->verdict : VERDICT_OK,
        .hits = r->run->end.evidence.hits,
        .limits = r->run->limits,
        .error = why->text,
        .install = why->code == ERR_NOT_FOUND ? r->job->inputs->language->install : NULL,
        .unheard = r->run->sink_closed,
    });
}

/* A run that failed before its program has no usage, no start and no files. */
static struct result result_of(const struct run_report *r)
{
    const struct jar_run *run = r->run;
    struct result result = {
        .id = r->job->id,
        .language = r->job->inputs->language->name,
        .version = r->version[0] ? r->version : NULL,
        .verdict = r->verdict,
        .evidence = run_report_evidence(r),
        .limits = r->job->options->limits,
        .isolation = run->isolation,
        .truncated = { run->streams[RUN_STDOUT].truncated, run->streams[RUN_STDERR].truncated },
        .files = &run->outputs,
        .error = r->verdict == VERDICT_INTERNAL_ERROR ? run->end.err.text : NULL,
        .diagnosis = r->found.diagnosis,
        .tables = r->found.tables,
        .profile = r->found.profile,
        .displays = r->found.displays,
        .tests = r->found.tests,
        .test_runner = r->job->options->run_options.test_runner,
        .check = r->found.check,
        .checks = r->job->options->run_options.check,
        .network = r->network,
        .network_limit = r->network && network_limit_hit(&run->network),
    };
    if (!r->failed) {
        result.usage = run->end.usage;
        result.started_at_ms = run->started_at_ms;
        result.start = run->started ? start_word(run->start) : NULL;
    }
    return result;
}

void run_report_find(struct run_report *r, int reader_fd, struct buf *outputs)
{
    enum { QUESTION_ID = 1 };
    autoclose int reader = reader_fd;
    scoped(buf) files = { 0 }, question = { 0 };
    scoped(answer) answer = { 0 };
    struct err e;
    bool explain = r->verdict != VERDICT_OK && diagnosis_view_wanted(r->job->options);
    if (r->job->options->json)
        (void)version_probe_read(r->job->version_fd, r->version, sizeof r->version);
    const struct run_options *wanted = &r->job->options->run_options;
    bool reports = wanted->test_runner != TEST_RUNNER_NONE || wanted->check;
    if (explain ||
        reports) /* without memory for the files, the failure is explained without them */
        (void)!inputs_files(r->job->inputs, &files, &e);
    const struct network_policy *policy = &r->job->options->network;
    bool has_network = policy->mode != NETWORK_NONE && !r->failed;
    char advice[NETWORK_ADVICE_SIZE] = "", list[NETWORK_LIST_SHOWN] = "";
    if (has_network) {
        r->network = network_json(policy, &r->run->network);
        (void)network_advice(policy, &r->run->network, advice);
        (void)network_policy_text(policy, list, sizeof list);
    }
    bool compiling = r->verdict == VERDICT_COMPILE_ERROR && r->prepared;
    const struct buf *printed = compiling ? r->prepared->output : r->captured;
    struct result result = result_of(r);
    const struct findings_input in = {
        .explain = explain,
        .language = r->job->inputs->language,
        .main_name = r->job->inputs->main_name,
        .sources = &files,
        .out = &printed[RUN_STDOUT],
        .err = &printed[RUN_STDERR],
        .compiling = compiling,
        .result = &result,
        .options = &r->job->options->run_options,
        .outputs = outputs,
        .has_network = has_network,
        .network_advice = advice[0] ? advice : NULL,
        .network_list = has_network && policy->mode == NETWORK_LIST ? list : NULL,
        .samples = r->failed ? NULL : r->run->samples,
    };
    struct modules modules = findings_modules(&in);
    bool asked = findings_ask(&in, QUESTION_ID, &question, &e) == 0 && question.len > 0;
    if (asked && reader >= 0)
        (void)exchange_run(fd_take(&reader), QUESTION_ID, &question, &modules, &answer);
    r->found = findings_take(&in, &answer);
}

void run_report_done(struct run_report *r)
{
    findings_done(&r->found);
    json_decref(r->network);
    r->network = NULL;
}

void run_report_diagnosis(const struct run_report *r)
{
    if (r->found.diagnosis)
        diagnosis_view_print(r->found.diagnosis);
}

int run_report_json(const struct run_report *r, struct err *e)
{
    const struct buf none = { 0 };
    struct result result = result_of(r);
    if (r->failed)
        result.files = &none;
    const char *key = r->prepared ? r->job->cache->at[r->prepared->stage].key : "";
    json_t *compile = r->prepared ? stage_result_json(r->prepared, r->cached, key[0] ? key : NULL)
                                  : NULL;
    result.compile = compile;
    json_t *o = result_json(&result);
    json_decref(compile);
    result_add_stream(o, "stdout", &r->captured[RUN_STDOUT]);
    result_add_stream(o, "stderr", &r->captured[RUN_STDERR]);
    int failed = json_dumpf(o, stdout, JSON_COMPACT | JSON_DIGITS) < 0 || putchar('\n') == EOF ||
                 fflush(stdout) == EOF;
    json_decref(o);
    return failed ? err_set(e, ERR_KERNEL, errno, "write the result") : 0;
}
