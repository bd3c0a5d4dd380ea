/* `belljar compare`: two programs, or two runs of the history, side by side. */
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/batch/program.h"
#include "cli/batch/repeat.h"
#include "cli/cli.h"
#include "cli/commands/service_ask.h"

enum { REPEAT_DEFAULT = 5 };

struct compare_options {
    struct run_arguments run; /* first: its rows have offsets into it */
    unsigned times;
};

static int set_times(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, REPEAT_MAX, &((struct compare_options *)options)->times, e);
}

static const struct arg_row rows[] = {
    { "repeat", "N", .letter = 'n', .apply = set_times, .default_text = "5",
      .help = "run each program N times, in turn" },
    { "stdin", "FILE", .offset = offsetof(struct compare_options, run.stdin_file),
      .values.kind = VALUES_FILE, .help = "standard input of both programs; otherwise empty" },
};

static size_t compare_rows(struct arg_row *out)
{
    memcpy(out, rows, sizeof rows);
    return ARRAY_LEN(rows) + program_rows(out + ARRAY_LEN(rows));
}

static bool is_run(const char *word)
{
    struct stat st;
    return strncmp(word, "run_", 4) == 0 && stat(word, &st) < 0;
}

/* The first program is done with before the second is read: both have the options. */
static int take_program(struct compare_options *o, struct repeat *r, int i, char *file, char **rest,
                        struct err *e)
{
    struct run_arguments *run = &o->run;
    const char *input = run->stdin_file;
    size_t n_files = run->n_files;
    if (program_take(run, file, rest, e))
        return -1;
    run->stdin_file = input ? input : "/dev/null";
    if (run->n_files != n_files)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is a directory with more than one file: compare takes a program, and "
                       "--file puts files beside it",
                       QUOTED(file));
    return repeat_request(run, &r->requests[i], e);
}

static int compare(void *options, int argc, char **argv, struct err *e)
{
    struct compare_options *o = options;
    if (argc != REPEAT_PROGRAMS)
        return err_set(e, ERR_USAGE, 0,
                       "compare needs two programs or two runs: 'belljar compare A B'; see "
                       "'belljar compare --help'");
    scoped(repeat) r = { .names = { argv[0], argv[1] },
                         .are_runs = is_run(argv[0]),
                         .times = o->times ? o->times : REPEAT_DEFAULT,
                         .json = o->run.json };
    if (r.are_runs != is_run(argv[1]))
        return err_set(e, ERR_USAGE, 0,
                       "'%s' and '%s' are a program and a run: give two programs, or two runs",
                       QUOTED(argv[0]), QUOTED(argv[1]));
    for (int i = 0; i < REPEAT_PROGRAMS; i++)
        if (r.are_runs ? service_path("runs", argv[i], NULL, &r.requests[i], e)
                       : take_program(o, &r, i, argv[i], argv + argc, e))
            return -1;
    if (r.are_runs)
        r.times = 1;
    return repeat_run(&r, &o->run, e);
}

static void done(void *options)
{
    run_arguments_done(&((struct compare_options *)options)->run);
}

const struct cli_command compare_command = {
    .name = "compare",
    .summary = "show the results and times of two programs or runs side by side",
    .usage = (const char *const[]){ "[OPTION]... PROGRAM PROGRAM [-- ARG...]",
                                    "[OPTION]... RUN RUN", NULL },
    .description =
        "Runs two programs in turn, each N times, and shows their results, outputs and times: the "
        "median, and after ± the standard deviation. One more run of each comes first and is not "
        "counted. A RUN is the id of a run in the history of the service; nothing runs then.\n\n"
        "Without a running service, belljar starts a private one for the programs. 'belljar run "
        "--bench N' does the same with one program.",
    .more_rows = compare_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .statuses = (const char *const[]){ "0", "both ended in the same way, with the same output", "1",
                                       "they differ", "130", "cancelled", NULL },
    .examples = (const char *const[]){ "Is the new version as good, and faster?",
                                       "belljar compare -n 20 old.py new.py --stdin data.txt",
                                       NULL },
    .arguments_follow = true,
    .options_size = sizeof(struct compare_options),
    .init = run_arguments_init,
    .done = done,
    .run = compare,
};
