/* cli/run/run_arguments.h — the command line of `belljar run`. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "runtime/language.h"
#include "spec/isolation.h"
#include "spec/limit.h"
#include "spec/run_options.h"

/* HOST[:NAME] of --file, NAME[:HOST] of --out. */
struct file_pair {
    char *host;
    char *name;
};

struct run_command {
    const struct language *language; /* NULL: to be guessed */
    const char *file;                /* "-" is stdin */
    char **args;                     /* NULL-terminated, points into argv */
    struct limits limits;
    limit_set limits_given,
        compile_limits_given; /* others are the defaults: ours, or those of the service */
    char **env;               /* NULL-terminated */
    struct file_pair *files, *outs;
    size_t n_env, n_files, n_outs;
    const char *stdin_file;
    bool writable_root, json, help, local;
    enum level level;
    struct run_options run_options;
    bool no_diagnosis;
};

void run_command_done(struct run_command *o);
[[nodiscard]] int run_command_parse(struct run_command *o, int argc, char **argv, struct err *e);
void run_command_help(void);
