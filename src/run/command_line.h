/* run/command_line.h — the arguments and environment of a job. Runs in: keeper. */
#pragma once

#include "base/err.h"
#include "run/jar_run.h"

/* The most that the arguments and variables of a caller may take together. The rest of a message is
 * for the built-in ones. */
enum { JOB_TEXT_MAX = WIRE_MAX_TEXT - 4096, JOB_STRINGS_MAX = WIRE_MAX_STRINGS - 96 };

/* The value of {program} in a command. */
#define JOB_PROGRAM "program"

struct command_line {
    char **argv, **envp;
};
void command_line_done(struct command_line *j);
/* Builds both lists from nothing. Checks the names of variables and the total size. */
[[nodiscard]] int command_line_build(struct command_line *ret, const struct jar_request *request,
                                     enum level level, struct err *e);
/* The value of {guest} at this level. */
const char *guest_dir(enum level level, char *out, size_t size);
/* Checks "K=V": K must be a name that a shell accepts. */
[[nodiscard]] int env_check(const char *entry, struct err *e);
