#include "cli/report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/note.h"
#include "engine/result.h"
#include "runtime/version.h"

void report_note(const struct report *r)
{
    const struct err *why = &r->run->end.err;
    note_print(&(struct note){
        .verdict = r->verdict,
        .hits = r->run->end.evidence.hits,
        .limits = r->run->limits,
        .error = why->text,
        .install = why->code == ERR_NOT_FOUND ? r->job->inputs->language->install : NULL,
        .unheard = r->run->unheard,
    });
}

int report_json(const struct report *r, struct err *e)
{
    const struct run *run = r->run;
    char version[64];
    struct result result = {
        .id = r->job->id,
        .language = r->job->inputs->language->name,
        .version = version_probe_read(r->job->version_fd, version, sizeof version),
        .verdict = r->verdict,
        .evidence = run->end.evidence,
        .usage = run->end.usage,
        .limits = run->limits,
        .isolation = run->isolation,
        .truncated = { run->streams[RUN_STDOUT].truncated, run->streams[RUN_STDERR].truncated },
        .files = &run->outputs,
        .error = r->verdict == VERDICT_INTERNAL_ERROR ? run->end.err.text : NULL,
        .started_at_ms = run->started_at_ms,
        .start = run->started ? start_word(run->start) : NULL,
    };
    json_t *o = result_json(&result);
    result_add_stream(o, "stdout", &r->captured[RUN_STDOUT]);
    result_add_stream(o, "stderr", &r->captured[RUN_STDERR]);
    int failed = json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12)) < 0 ||
                 putchar('\n') == EOF || fflush(stdout) == EOF;
    json_decref(o);
    return failed ? err_set(e, ERR_KERNEL, errno, "write the result") : 0;
}
