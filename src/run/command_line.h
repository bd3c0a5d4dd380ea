/* run/command_line.h — the arguments and environment of a job. Runs in: keeper. */
#pragma once

#include "base/err.h"
#include "run/jar_run.h"

/* What a caller's arguments and variables may take together; the rest of a message is for what is built in. */
enum { JOB_TEXT_MAX = WIRE_MAX_TEXT - 4096, JOB_STRINGS_MAX = WIRE_MAX_STRINGS - 96 };

/* {program} of a command. */
#define JOB_PROGRAM "program"

struct command_line {
    char **argv, **envp;
};
void command_line_done(struct command_line *j);
/* Both lists are built from nothing; env names and total size are checked. */
[[nodiscard]] int command_line_build(struct command_line *ret, const struct jar_request *request,
                                     enum level level, struct err *e);
/* Where {guest} is inside, at this level. */
const char *guest_dir(enum level level, char *out, size_t size);
/* "K=V" with a name that a shell would take. */
[[nodiscard]] int env_check(const char *entry, struct err *e);
