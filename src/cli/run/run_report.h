/* cli/run/run_report.h — the result of a run, as JSON or as text. Runs in: the keeper of `belljar
 * run`. */
#pragma once

#include "base/buf.h"
#include "cli/run/run_keeper.h"
#include "examiner/findings.h"
#include "run/jar_run.h"
#include "run/stages.h"
#include "spec/verdict.h"

struct run_report {
    const struct run_keeper_job *job;
    const struct jar_run *run;
    enum verdict verdict;
    const struct buf
        *captured; /* stdout and stderr: with --json all, otherwise beginning and end */
    const struct stage_result *prepared; /* the last stage before the program; NULL: none */
    bool cached;                         /* `prepared` came from the cache */
    bool failed;           /* the run ended in that stage; `run` is of its jar, if it had one */
    char version[64];      /* of the language; empty: not needed, or not known */
    json_t *network;       /* network_json(); NULL: the program had no network */
    struct findings found; /* set by run_report_find() */
};

/* Finds diagnosis, tables and profile, with a reader whose socket is taken over; -1: there is none.
 * Removes our report from the outputs; NULL: no outputs. */
void run_report_find(struct run_report *r, int reader_fd, struct buf *outputs);
void run_report_done(struct run_report *r);

/* The evidence of the run, or of the stage that failed before it. */
struct evidence run_report_evidence(const struct run_report *r);

/* Prints one object on stdout. */
[[nodiscard]] int run_report_json(const struct run_report *r, struct err *e);

/* Prints a sentence on stderr if a limit, a cancellation or a failure ended the run. */
void run_report_note(const struct run_report *r);

/* Prints the explanation of a failure on a terminal. */
void run_report_diagnosis(const struct run_report *r);
