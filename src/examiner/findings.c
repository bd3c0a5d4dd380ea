#include "examiner/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "examiner/question.h"
#include "run/diagnosis_json.h"
#include "run/profile.h"
#include "run/reports.h"
#include "spec/bundle.h"
#include "suite/suite.h"

void findings_done(struct findings *f)
{
    json_decref(f->diagnosis);
    json_decref(f->tables);
    json_decref(f->profile);
    json_decref(f->displays);
    json_decref(f->tests);
    *f = (struct findings){ 0 };
}

struct sources {
    struct source_file files[QUESTION_SOURCES_MAX];
    char *names[QUESTION_SOURCES_MAX];
    size_t n;
};

static void sources_done(struct sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
}

/* The files of the job. A file that is large or not text has its name alone. */
static void read_sources(const struct findings_input *in, struct sources *s)
{
    struct bundle_entry entry;
    struct err e;
    size_t pos = 0;
    bool more = in->sources && in->sources->len > 0, main_seen = false;
    while (more && s->n < QUESTION_SOURCES_MAX &&
           bundle_next(in->sources, &pos, &entry, &more, &e) == 0 && more) {
        char *name = strndup(entry.name, entry.head.name_len);
        if (!name)
            break;
        bool text = entry.head.size <= DIAGNOSE_SOURCE_MAX &&
                    text_is_utf8(entry.bytes, (size_t)entry.head.size);
        s->names[s->n] = name;
        s->files[s->n++] = (struct source_file){ .name = name,
                                                 .text = text ? entry.bytes : NULL,
                                                 .len = text ? (size_t)entry.head.size : 0 };
        main_seen = main_seen || (in->main_name && strcmp(name, in->main_name) == 0);
    }
    if (main_seen || !in->code || !in->main_name || s->n == QUESTION_SOURCES_MAX)
        return;
    s->names[s->n] = text_copy(in->main_name);
    if (!s->names[s->n])
        return;
    s->files[s->n] = (struct source_file){ .name = s->names[s->n],
                                           .text = in->code,
                                           .len = strlen(in->code) };
    s->n++;
}

static bool is_explained(const struct findings_input *in)
{
    return in->explain && in->result->verdict != VERDICT_OK;
}

static bool wants_profile(const struct findings_input *in)
{
    return in->options && in->options->profile && in->samples;
}

static bool wants_displays(const struct findings_input *in)
{
    return in->options && in->options->display && in->language->display;
}

static enum test_runner test_runner_of(const struct findings_input *in)
{
    return in->options ? in->options->test_runner : TEST_RUNNER_NONE;
}

/* The language of the tests is not that of the script that runs them. */
static const char *shown_language(const struct findings_input *in)
{
    const struct suite_runner *r = suite_runner(test_runner_of(in));
    return r ? r->language : in->language->name;
}

struct modules findings_modules(const struct findings_input *in)
{
    return (struct modules){ .language = shown_language(in), .version = in->result->version };
}

static struct diagnose_input diagnose_input_of(const struct findings_input *in,
                                               const struct sources *sources)
{
    const struct result *r = in->result;
    const struct buf none = { 0 };
    const struct buf *err = in->err ? in->err : &none, *out = in->out ? in->out : &none;
    const char *language = shown_language(in);
    return (struct diagnose_input){
        .language = language,
        .grammar = language_grammar(language_find(language)),
        .compiling = in->compiling,
        .text = buf_str(err),
        .len = err->len,
        .printed = buf_str(out),
        .printed_len = out->len,
        .main_name = in->main_name,
        .sources = sources->files,
        .n_sources = sources->n,
        .evidence = &r->evidence,
        .limits = &r->limits,
        .usage = &r->usage,
        .verdict = r->verdict,
        .sealed = true,
        .is_cell = in->is_cell,
        .has_network = in->has_network,
        .network_advice = in->network_advice,
        .allow_commands = in->options ? in->options->allow_commands : NULL,
        .available = modules_known(language) ? module_available : NULL,
    };
}

int findings_ask(const struct findings_input *in, uint64_t id, struct buf *question, struct err *e)
{
    scoped(buf) report = { 0 };
    scoped(sources) sources = { .n = 0 };
    if (in->outputs && report_expected(in->language, in->options) &&
        report_cut(in->outputs, &report, e))
        return -1;
    struct question q = { .id = id,
                          .explain = is_explained(in),
                          .tables = in->language->reports,
                          .profile = wants_profile(in),
                          .displays = wants_displays(in),
                          .test_runner = test_runner_of(in),
                          .report = report.len > 0 ? report.data : NULL,
                          .report_len = report.len };
    if (!q.explain && !q.report && q.test_runner == TEST_RUNNER_NONE)
        return 0;
    if (q.explain || q.test_runner != TEST_RUNNER_NONE) {
        read_sources(in, &sources);
        q.input = diagnose_input_of(in, &sources);
    }
    return question_pack(&q, question, e);
}

struct findings findings_take(const struct findings_input *in, const struct answer *answer)
{
    static const struct answer none = { 0 };
    struct findings f = { 0 };
    answer = answer ? answer : &none;
    if (in->language->reports)
        f.tables = json_incref(answer->tables);
    if (wants_profile(in))
        f.profile = profile_make(answer->profile, in->samples, &in->result->isolation);
    if (wants_displays(in))
        f.displays = answer->displays ? json_incref(answer->displays) : json_array();
    if (test_runner_of(in) != TEST_RUNNER_NONE)
        f.tests = json_incref(answer->tests);
    if (is_explained(in) && answer->diagnosis) {
        answer->diagnosis->verdict = in->result->verdict;
        f.diagnosis = diagnosis_json(answer->diagnosis);
    }
    return f;
}
