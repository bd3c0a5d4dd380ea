/* cli/run/run_report.h — what a run came to, as JSON or as a sentence. Runs in: the keeper of `belljar run`. */
#pragma once

#include "base/buf.h"
#include "cli/run/run_keeper.h"
#include "run/findings.h"
#include "run/jar_run.h"
#include "run/stages.h"
#include "spec/verdict.h"

struct run_report {
    const struct run_keeper_job *job;
    const struct jar_run *run;
    enum verdict verdict;
    const struct buf
        *captured; /* stdout and stderr: all of it with --json, else the first and the last of it */
    const struct stage_result *prepared; /* what came before the program; NULL: nothing did */
    bool cached;                         /* and it was not done anew */
    bool failed;           /* there it ended: `run` is of that stage, if it had a jar at all */
    char version[64];      /* of the language; empty: not asked, or not known */
    struct findings found; /* by run_report_find() */
};

/* What there is to find out about it. A report of ours is taken out of the outputs; NULL: there are none. */
void run_report_find(struct run_report *r, struct buf *outputs);
void run_report_done(struct run_report *r);

/* Of the run, or of the stage that it did not come beyond. */
struct evidence run_report_evidence(const struct run_report *r);

/* One object on stdout. */
[[nodiscard]] int run_report_json(const struct run_report *r, struct err *e);

/* A sentence on stderr when a limit, a cancellation or a failure ended the run; nothing otherwise. */
void run_report_note(const struct run_report *r);

/* What went wrong and what may help, on a terminal; nothing of a run that ended well. */
void run_report_diagnosis(const struct run_report *r);
