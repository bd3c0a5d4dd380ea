#include "examiner/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "examiner/question.h"
#include "run/diagnosis_json.h"
#include "run/profile.h"
#include "run/reports.h"
#include "spec/bundle.h"
#include "spec/job.h"
#include "suite/suite.h"

void findings_done(struct findings *f)
{
    json_decref(f->diagnosis);
    json_decref(f->tables);
    json_decref(f->profile);
    json_decref(f->displays);
    json_decref(f->tests);
    json_decref(f->check);
    *f = (struct findings){ 0 };
}

enum { MAIN_NAME_MAX = 64 };
struct sources {
    char main_name[MAIN_NAME_MAX]; /* of a cell; "": it has the name of its file */
    struct source_file files[QUESTION_SOURCES_MAX];
    char *names[QUESTION_SOURCES_MAX];
    size_t n;
};

static void sources_done(struct sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
}

/* The name that the messages of its session program have for a cell. */
static void name_cell(const struct findings_input *in, struct sources *s)
{
    const char *form = in->language->cell_name, *mark = form ? strchr(form, '#') : NULL;
    if (in->is_cell && in->cell > 0 && mark)
        (void)snprintf(s->main_name, sizeof s->main_name, "%.*s%u%s", (int)(mark - form), form,
                       in->cell, mark + 1);
}

static const char *main_name_of(const struct findings_input *in, const struct sources *s)
{
    return s->main_name[0] ? s->main_name : in->main_name;
}

/* The files of the job. A file that is large or not text has its name alone. */
static void read_sources(const struct findings_input *in, struct sources *s)
{
    struct bundle_entry entry;
    struct err e;
    size_t pos = 0;
    bool more = in->sources && in->sources->len > 0, main_seen = false;
    name_cell(in, s);
    while (more && s->n < QUESTION_SOURCES_MAX &&
           bundle_next(in->sources, &pos, &entry, &more, &e) == 0 && more) {
        bool is_main = in->main_name && bundle_is_named(&entry, in->main_name);
        char *name = is_main ? strdup(main_name_of(in, s))
                             : strndup(entry.name, entry.head.name_len);
        if (!name)
            break;
        bool text = entry.head.size <= DIAGNOSE_SOURCE_MAX &&
                    text_is_utf8(entry.bytes, (size_t)entry.head.size);
        s->names[s->n] = name;
        s->files[s->n++] = (struct source_file){ .name = name,
                                                 .text = text ? entry.bytes : NULL,
                                                 .len = text ? (size_t)entry.head.size : 0 };
        main_seen = main_seen || is_main;
    }
    if (main_seen || !in->code || !in->main_name || s->n == QUESTION_SOURCES_MAX)
        return;
    s->names[s->n] = text_copy(main_name_of(in, s));
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

static bool wants_check(const struct findings_input *in)
{
    return in->options && in->options->check;
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
        .main_name = main_name_of(in, sources),
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
        .network_list = in->network_list,
        .allow_commands = in->options ? in->options->allow_commands : NULL,
        .available = modules_known(language) ? module_available : NULL,
    };
}

int findings_ask(const struct findings_input *in, uint64_t id, struct buf *question, struct err *e)
{
    scoped(buf) report = { 0 }, whereabouts = { 0 };
    scoped(sources) sources = { .n = 0 };
    if (in->outputs &&
        ((report_expected(in->language, in->options) && report_cut(in->outputs, &report, e)) ||
         ((in->language->whereabouts || in->language->values) &&
          whereabouts_cut(in->outputs, &whereabouts, e))))
        return -1;
    struct question q = { .id = id,
                          .explain = is_explained(in),
                          .tables = in->language->reports,
                          .profile = wants_profile(in),
                          .displays = wants_displays(in),
                          .test_runner = test_runner_of(in),
                          .check = wants_check(in),
                          .report = report.len > 0 ? report.data : NULL,
                          .report_len = report.len };
    bool reads = q.explain || q.test_runner != TEST_RUNNER_NONE || q.check;
    if (!reads && !q.report)
        return 0;
    if (reads) {
        read_sources(in, &sources);
        q.input = diagnose_input_of(in, &sources);
        const struct buf *told = &whereabouts;
        if (in->told && in->told->len > 0 && in->told->len <= WHEREABOUTS_MAX)
            told = in->told;
        q.input.whereabouts = buf_str(told);
        q.input.whereabouts_len = told->len;
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
    if (wants_check(in))
        f.check = json_incref(answer->check);
    if (is_explained(in) && answer->diagnosis) {
        answer->diagnosis->verdict = in->result->verdict;
        f.diagnosis = diagnosis_json(answer->diagnosis);
    }
    return f;
}
