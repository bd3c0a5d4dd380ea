#include "run/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "run/diagnosis_json.h"
#include "run/profile.h"
#include "run/reports.h"
#include "runtime/modules.h"
#include "spec/bundle.h"

enum { SOURCES_MAX = 64 };

void findings_done(struct findings *f)
{
    json_decref(f->diagnosis);
    json_decref(f->tables);
    json_decref(f->profile);
    *f = (struct findings){ 0 };
}

struct sources {
    struct source_file files[SOURCES_MAX];
    char *names[SOURCES_MAX];
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
    while (more && s->n < SOURCES_MAX && bundle_next(in->sources, &pos, &entry, &more, &e) == 0 &&
           more) {
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
    if (main_seen || !in->code || !in->main_name || s->n == SOURCES_MAX)
        return;
    s->names[s->n] = text_copy(in->main_name);
    if (!s->names[s->n])
        return;
    s->files[s->n] = (struct source_file){ .name = s->names[s->n],
                                           .text = in->code,
                                           .len = strlen(in->code) };
    s->n++;
}

/* The line of the main file that took the most time; 0: unknown. */
static uint32_t hot_line(const struct findings_input *in, const json_t *profile)
{
    char file[256];
    int line = profile_hot_line(profile, file, sizeof file);
    return line > 0 && in->main_name && strcmp(file, in->main_name) == 0 ? (uint32_t)line : 0;
}

static json_t *explain(const struct findings_input *in, const json_t *profile)
{
    const struct result *r = in->result;
    struct sources sources = { .n = 0 };
    struct modules modules = { .language = in->language->name, .version = r->version };
    const struct buf none = { 0 };
    const struct buf *err = in->err ? in->err : &none, *out = in->out ? in->out : &none;
    autofree struct diagnosis *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    read_sources(in, &sources);
    const struct diagnose_input input = {
        .language = in->language->name,
        .grammar = language_grammar(in->language),
        .compiling = in->compiling,
        .text = buf_str(err),
        .len = err->len,
        .printed = buf_str(out),
        .printed_len = out->len,
        .main_name = in->main_name,
        .sources = sources.files,
        .n_sources = sources.n,
        .evidence = &r->evidence,
        .limits = &r->limits,
        .usage = &r->usage,
        .verdict = r->verdict,
        .hot_line = hot_line(in, profile),
        .sealed = true,
        .allow_commands = in->options ? in->options->allow_commands : NULL,
        .available = modules_known(modules.language) ? module_available : NULL,
        .context = &modules,
    };
    json_t *found = diagnose(in->diagnoser, &input, d) ? diagnosis_json(d) : NULL;
    sources_done(&sources);
    return found;
}

/* A report that was not requested is ignored. */
static void take_report(const struct findings_input *in, struct findings *f)
{
    if (!in->outputs || !report_expected(in->language, in->options))
        return;
    struct report_found report = report_take(in->outputs);
    if (in->language->reports)
        f->tables = json_incref(report.tables);
    if (in->options && in->options->profile)
        f->profile = json_incref(report.profile);
    json_decref(report.tables);
    json_decref(report.profile);
}

struct findings findings_make(const struct findings_input *in)
{
    struct findings f = { 0 };
    take_report(in, &f);
    f.profile = profile_take(f.profile, in->options && in->options->profile, in->samples,
                             &in->result->isolation);
    if (in->diagnoser && in->result->verdict != VERDICT_OK)
        f.diagnosis = explain(in, f.profile ? f.profile : in->result->profile);
    return f;
}
