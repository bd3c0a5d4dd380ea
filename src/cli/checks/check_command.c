/* `belljar check`: finds the mistakes in code, and executes no line of it.
 *
 * main finds the files; reported_run.h has the two processes beside it. The run is a script of bash
 * that starts the parsers and type checkers of the languages. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "base/text.h"
#include "checks/checks.h"
#include "cli/args.h"
#include "cli/checks/check_report.h"
#include "cli/cli.h"
#include "cli/run/project.h"
#include "cli/suite/reported_run.h"
#include "run/command_line.h"

struct check {
    struct run_arguments run;
    struct check_plan plan;
    struct buf script;
    char **words; /* arguments of the script */
    struct err seen;
    bool json;
};
_Static_assert(offsetof(struct check, run) == 0, "reported_limit_rows()");

/* ---- options ---- */

#define AT(member) offsetof(struct check, member)
static const struct arg_row rows[] = {
    { "language", "LANG", .letter = 'l', .offset = AT(run.language), .apply = args_language,
      .values = { VALUES_WORDS, args_language_at },
      .help = "the language of each FILE; found by its name or first line if absent" },
    { "json", .offset = AT(json), .help = "print the result as one JSON object" },
    { "local", .offset = AT(run.local), .help = "do not use a running service" },
};
#undef AT

/* Type checkers take longer than most programs. */
enum { CHECK_WALL_MS = 60000 };

static size_t limit_rows(struct arg_row *out)
{
    const struct limits defaults = reported_limits(CHECK_WALL_MS);
    return reported_limit_rows(&defaults, out);
}

static void init(void *options)
{
    struct check *c = options;
    *c = (struct check){ 0 };
    run_arguments_init(&c->run);
    c->run.limits = reported_limits(CHECK_WALL_MS);
}

static void done(void *options)
{
    struct check *c = options;
    check_plan_done(&c->plan);
    buf_done(&c->script);
    strv_free(c->words);
    run_arguments_done(&c->run);
}

/* ---- the files ---- */

static void see(void *arg, const char *name)
{
    struct check *c = arg;
    if (c->seen.code == ERR_NONE && check_plan_add(&c->plan, name, NULL, &c->seen) == 0)
        c->seen.code = ERR_NONE;
}

/* The language of a file: the given one, or that of its name or first line. */
static const struct language *language_of(const struct check *c, const char *path)
{
    char line[256];
    autoclose int fd = c->run.language ? -1
                                       : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n = fd >= 0 ? fd_read_full(fd, line, sizeof line) : 0;
    return c->run.language ? c->run.language : language_guess(path, line, n > 0 ? (size_t)n : 0);
}

/* A file whose name is not one of its language gets the usual one. */
static const char *name_of(const struct check *c, const struct language *l, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return c->run.language && !language_has(l, name, strlen(name)) ? l->main_file : name;
}

static int add_file(struct check *c, const char *path, struct err *e)
{
    struct run_arguments *o = &c->run;
    const struct language *l = language_of(c, path);
    if (!l)
        return err_set(e, ERR_USAGE, 0,
                       "the language of '%s' is not known by its name or first line: give it with "
                       "--language, such as --language python",
                       QUOTED(path));
    const char *name = name_of(c, l, path);
    for (size_t i = 0; i < o->n_files; i++)
        if (strcmp(o->files[i].name, name) == 0)
            return err_set(e, ERR_USAGE, 0,
                           "'%s' and '%s' would both be '%s' in the jar: check them one by one",
                           QUOTED(o->files[i].host), QUOTED(path), QUOTED(name));
    return reported_file_add(o, path, name, e) ? -1 : check_plan_add(&c->plan, name, l, e);
}

/* One directory, or files that are copied side by side. */
static int take_operands(struct check *c, int argc, char **argv, struct err *e)
{
    static char here[] = ".";
    char *none[] = { here, NULL };
    struct stat st;
    argv = argc > 0 ? argv : none;
    for (int i = 0; argv[i]; i++) {
        if (stat(argv[i], &st) < 0)
            return err_set(e, ERR_BAD_REQUEST, errno, "'%s'", QUOTED(argv[i]));
        if (S_ISDIR(st.st_mode) && argc <= 1) {
            if (project_copy(&c->run, argv[i], see, c, e))
                return -1;
        } else if (!S_ISREG(st.st_mode)) {
            return err_set(e, ERR_USAGE, 0,
                           "'%s' is not a file: one directory, or files, are accepted",
                           QUOTED(argv[i]));
        } else if (add_file(c, argv[i], e)) {
            return -1;
        }
    }
    if (c->seen.code != ERR_NONE) {
        *e = c->seen;
        return -1;
    }
    return c->plan.n > 0
               ? 0
               : err_set(e, ERR_NOT_FOUND, 0, "'%s' has no file in a language that is known here",
                         QUOTED(argv[0]));
}

/* The run is a script of bash beside the files. Its name is hidden, so no file of theirs has it. */
static int make_run(struct check *c, struct err *e)
{
    struct run_arguments *o = &c->run;
    char guest[4200], entry[sizeof guest + 32];
    (void)snprintf(entry, sizeof entry, CHECKS_GUEST "=%s",
                   guest_dir(LEVEL_PROCESS, guest, sizeof guest));
    if (strv_add(&o->env, entry, e) || check_plan_script(&c->plan, &c->script, e) ||
        check_plan_args(&c->plan, &c->words, e))
        return -1;
    limits_raise_cpu(&o->limits, o->limits_given, limit_defs[LIMIT_CPU_MS].max);
    o->limits_given = (limit_set)(LIMIT_BIT(LIMIT_COUNT) - 1); /* also in a service */
    o->run_options.check = true;
    o->language = language_find("bash");
    o->code = buf_str(&c->script);
    o->file = CHECKS_SCRIPT;
    o->stdin_file = "/dev/null";
    o->args = c->words;
    o->json = true;
    return 0;
}

static int report(int in, const void *options, struct err *e)
{
    return check_print(in, options, e);
}

static int check(void *options, int argc, char **argv, struct err *e)
{
    struct check *c = options;
    if (take_operands(c, argc, argv, e) || make_run(c, e))
        return -1;
    const struct check_report_options o = { .json = c->json };
    const struct reported_run run = {
        .run = &c->run, .report = report, .options = &o, .keep_fd = -1
    };
    return reported_run(&run, e);
}

const struct cli_command check_command = {
    .name = "check",
    .summary = "check code without running it: syntax, types, imports, risks",
    .usage = (const char *const[]){ "[OPTION]... FILE...", "[OPTION]... [DIRECTORY]", NULL },
    .description =
        "Says whether code parses, whether its types hold, which imports are missing here, and "
        "which lines an approver should look at. No line of it is executed: the parsers and type "
        "checkers of the languages read a copy in a sealed jar. (perl -c is the exception: it "
        "executes BEGIN blocks and `use`, in the jar.)\n\n"
        "FILEs are copied side by side, and see each other. DIRECTORY is the current one by "
        "default; its hidden files, links, folders of packages and files that look like keys are "
        "not copied.\n\n"
        "Risks direct the eye and change no exit status: code can do harm without these words.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .more_rows = limit_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .statuses =
        (const char *const[]){
            "0", "each file parses, and nothing else is wrong", "1",
            "an error of syntax or types, or a missing import", "124, 137, 153",
            "a limit ended the check: time, memory, output", "130", "cancelled", "125",
            "a file could not be checked: no parser is known or installed", NULL },
    .examples = (const char *const[]){ "Check a program:", "belljar check main.py",
                                       "Check generated code in a script:",
                                       "belljar check --json --language python answer.txt",
                                       "Check a project:", "belljar check project", NULL },
    .options_size = sizeof(struct check),
    .init = init,
    .done = done,
    .run = check,
};
