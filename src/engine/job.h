/* engine/job.h — the arguments and environment of a job. Runs in: keeper. */
#pragma once

#include "base/err.h"
#include "engine/run.h"

/* What a caller's arguments and variables may take together; the rest of a message is for what is built in. */
enum { JOB_TEXT_MAX = WIRE_MAX_TEXT - 4096, JOB_STRINGS_MAX = WIRE_MAX_STRINGS - 96 };

/* {program} of a command. */
#define JOB_PROGRAM "program"

struct job {
    char **argv, **envp;
};
void job_done(struct job *j);
/* Both lists are built from nothing; env names and total size are checked. */
[[nodiscard]] int job_build(struct job *ret, const struct run_request *request, enum level level,
                            struct err *e);
/* Where {guest} is inside, at this level. */
const char *job_guest_dir(enum level level, char *out, size_t size);
/* "K=V" with a name that a shell would take. */
[[nodiscard]] int job_env_check(const char *entry, struct err *e);
