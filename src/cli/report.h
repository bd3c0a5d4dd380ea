/* cli/report.h — what a run came to, as JSON or as a sentence. Runs in: the keeper of `belljar run`. */
#pragma once

#include "base/buf.h"
#include "cli/keeper.h"
#include "engine/run.h"
#include "spec/verdict.h"

struct report {
    const struct keeper_job *job;
    const struct run *run;
    enum verdict verdict;
    const struct buf *captured; /* stdout and stderr, with --json */
};

/* One object on stdout. */
[[nodiscard]] int report_json(const struct report *r, struct err *e);

/* A sentence on stderr when a limit, a cancellation or a failure ended the run; nothing otherwise. */
void report_note(const struct report *r);
