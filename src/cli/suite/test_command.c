/* `belljar test`: runs the tests of a project over a copy, in a jar.
 *
 * main finds the files and the test runner, and forks two processes: the run, which is that of
 * `belljar run --json`, and the reporter, which reads its result. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/run/project.h"
#include "cli/run/run_command.h"
#include "cli/suite/test_report.h"
#include "run/keeper_uid.h"
#include "run/privileges.h"
#include "spec/bundle.h"

struct test {
    struct run_arguments run;
    const char *junit;
    bool json, verbose;
};

/* ---- options ---- */

static int set_runner(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct test *t = options;
    char known[160];
    (void)row;
    for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++)
        if (strcmp(test_runners[i], value) == 0) {
            t->run.run_options.test_runner = (enum test_runner)i;
            return 0;
        }
    return err_set(e, ERR_USAGE, 0, "--test-runner '%s' is not known: one of %s is accepted",
                   QUOTED(value), suite_list(known, sizeof known));
}

static const char *runner_at(const void *def, size_t i)
{
    (void)def;
    return i + 1 < TEST_RUNNER_COUNT_ ? test_runners[i + 1] : NULL;
}

static int set_limit(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct test *t = options;
    enum limit_id id = (enum limit_id)((const struct limit_def *)row->def - limit_defs);
    t->run.limits_given |= LIMIT_BIT(id);
    return limit_parse(id, value, &t->run.limits, e);
}

#define AT(member) offsetof(struct test, member)
static const struct arg_row rows[] = {
    { "test-runner", "NAME", .apply = set_runner, .shows_words = true,
      .values = { VALUES_WORDS, runner_at },
      .help = "the test runner; found by the files if absent" },
    { "junit", "FILE", .offset = AT(junit), .values.kind = VALUES_FILE,
      .help = "write a report for CI systems (JUnit XML)" },
    { "json", .offset = AT(json), .help = "print the result as one JSON object" },
    { "verbose", .letter = 'v', .offset = AT(verbose),
      .help = "name the tests that passed or were skipped, too" },
    { "local", .offset = AT(run.local), .help = "do not use a running service" },
};
#undef AT

/* Tests may compile their project, and take longer than one program. */
static struct limits test_limits(void)
{
    enum { WALL_MS = 120000 };
    struct limits l = compile_limits_default();
    l.v[LIMIT_WALL_MS] = l.v[LIMIT_CPU_MS] = WALL_MS;
    l.v[LIMIT_OUTPUT] = limits_default().v[LIMIT_OUTPUT];
    return l;
}

static size_t limit_rows(struct arg_row *out)
{
    const struct limits defaults = test_limits();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        out[i] = (struct arg_row){ .name = d->option,
                                   .metavar = d->metavar,
                                   .help = d->help,
                                   .group = "Limits",
                                   .apply = set_limit,
                                   .def = d };
        (void)unit_format(d->unit, defaults.v[i], out[i].default_text, sizeof out[i].default_text);
    }
    return LIMIT_COUNT;
}

static void init(void *options)
{
    struct test *t = options;
    *t = (struct test){ 0 };
    run_arguments_init(&t->run);
    t->run.limits = test_limits();
}

static void done(void *options)
{
    run_arguments_done(&((struct test *)options)->run);
}

/* ---- the files ---- */

static void see(void *arg, const char *name)
{
    suite_see(arg, name);
}

static int add_file(struct test *t, struct suite_search *s, const char *path, struct err *e)
{
    struct run_arguments *o = &t->run;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct file_pair *grown = realloc(o->files, (o->n_files + 1) * sizeof *grown);
    if (!grown)
        return err_no_memory(e, "the files");
    o->files = grown;
    o->files[o->n_files] = (struct file_pair){ strdup(path), strdup(name) };
    if (!o->files[o->n_files].host || !o->files[o->n_files].name)
        return err_no_memory(e, "the files");
    o->n_files++;
    suite_see(s, name);
    return bundle_name_check(name, strlen(name), e);
}

/* One directory, or files that are copied side by side. */
static int take_operands(struct test *t, struct suite_search *s, int argc, char **argv,
                         struct err *e)
{
    struct stat st;
    const char *first = argc > 0 ? argv[0] : ".";
    if (stat(first, &st) < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "'%s'", QUOTED(first));
    if (S_ISDIR(st.st_mode) && argc <= 1)
        return project_copy(&t->run, first, see, s, e);
    for (int i = 0; i < argc; i++) {
        if (stat(argv[i], &st) < 0 || !S_ISREG(st.st_mode))
            return err_set(e, ERR_USAGE, 0,
                           "'%s' is not a file: one directory, or files, are accepted; options of "
                           "the test runner follow --",
                           QUOTED(argv[i]));
        if (add_file(t, s, argv[i], e))
            return -1;
    }
    return 0;
}

static int choose_runner(struct test *t, const struct suite_search *s, struct err *e)
{
    enum test_runner *chosen = &t->run.run_options.test_runner;
    if (*chosen == TEST_RUNNER_NONE)
        return suite_choose(s, chosen, e);
    const struct suite_runner *r = suite_runner(*chosen);
    return suite_is_installed(r) ? 0 : suite_refuse(r, e);
}

/* The run is a script of bash beside the files. Its name is hidden, so no file of theirs has it. */
static void make_run(struct test *t, char **args)
{
    struct run_arguments *o = &t->run;
    limits_raise_cpu(&o->limits, o->limits_given, limit_defs[LIMIT_CPU_MS].max);
    o->limits_given = (limit_set)(LIMIT_BIT(LIMIT_COUNT) - 1); /* also in a service */
    o->language = language_find("bash");
    o->code = suite_runner(o->run_options.test_runner)->script;
    o->file = ".belljar-test.sh";
    o->stdin_file = "/dev/null";
    o->args = args;
    o->json = true;
}

/* ---- the processes ---- */

[[gnu::noreturn]]
static void be_run(struct test *t, int out, pid_t parent)
{
    struct err e = { 0 };
    int status = -1;
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent || dup2(out, 1) != 1)
        _exit(err_exit_status(ERR_KERNEL));
    (void)close(out);
    status = run_program(&t->run, &e);
    (void)fflush(stdout);
    _exit(status < 0 ? cli_fail(&e) : status);
}

[[gnu::noreturn]]
static void be_reporter(int in, const struct test_report_options *o, pid_t parent, uid_t uid)
{
    struct err e;
    const int keep[] = { in, o->junit_fd };
    int status = -1;
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) == 0 && privileges_drop(parent, uid, &e) == 0 &&
        privileges_confine(ROLE_COMMAND_KEEPER, NULL, &e) == 0)
        status = test_report(in, o, &e);
    _exit(status < 0 ? cli_fail(&e) : status);
}

static int wait_for(pid_t pid, int *ret, struct err *e)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the tests");
    if (!WIFEXITED(status))
        return err_set(e, ERR_UNAVAILABLE, 0, "a process of the tests died (signal %d)",
                       WTERMSIG(status));
    *ret = WEXITSTATUS(status);
    return 0;
}

/* The status of the reporter. If there was no result, the run has said why: its status. */
static int start(struct test *t, const struct test_report_options *o, struct err *e)
{
    scoped(keeper_uid) uid = KEEPER_UID_INIT;
    sigset_t ending;
    int fds[2], run_status = 0, status = 0;
    if (keeper_uid_for_command(&uid, e) || fd_pipe(fds, e))
        return -1;
    autoclose int in = fds[0], out = fds[1];
    pid_t us = getpid();
    (void)fflush(stdout);
    pid_t reporter = fork();
    if (reporter == 0) {
        fd_close(&out);
        be_reporter(in, o, us, uid.lock_fd >= 0 ? uid.uid : geteuid());
    }
    pid_t run = reporter > 0 ? fork() : -1;
    if (run == 0) {
        fd_close(&in);
        be_run(t, fd_take(&out), us);
    }
    fd_close(&out);
    if (reporter < 0 || run < 0)
        return err_set(e, ERR_KERNEL, errno, "start the tests");
    cli_signals(&ending); /* the run ends by them, and then so do we */
    (void)sigprocmask(SIG_BLOCK, &ending, NULL);
    if (wait_for(run, &run_status, e) || wait_for(reporter, &status, e))
        return -1;
    return status == TEST_NO_RESULT ? run_status : status;
}

static int test(void *options, int argc, char **argv, struct err *e)
{
    struct test *t = options;
    struct suite_search search = { 0 };
    autoclose int junit = -1;
    char **args = argv[argc] ? argv + argc + 1 : argv + argc;
    if (take_operands(t, &search, argc, argv, e) || choose_runner(t, &search, e))
        return -1;
    if (t->junit) {
        junit = open(t->junit, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (junit < 0)
            return err_set(e, ERR_BAD_REQUEST, errno, "write '%s'", QUOTED(t->junit));
    }
    make_run(t, args);
    const struct test_report_options o = {
        .runner = suite_runner(t->run.run_options.test_runner),
        .json = t->json,
        .verbose = t->verbose,
        .junit_fd = junit,
    };
    return start(t, &o, e);
}

const struct cli_command test_command = {
    .name = "test",
    .summary = "run the tests of a project in a jar, over a copy",
    .usage = (const char *const[]){ "[OPTION]... [DIRECTORY] [-- ARG...]",
                                    "[OPTION]... FILE... [-- ARG...]", NULL },
    .description =
        "Finds the test runner of a project, runs its tests in a sealed jar over a copy of the "
        "project, and explains each test that failed. The project itself is not changed. "
        "DIRECTORY is the current one by default; with FILEs, only these are copied, side by "
        "side. ARGs go to the test runner.\n\n"
        "Hidden files, links, folders of packages and files that look like keys are not copied.\n\n"
        "The list of tests is the report of the tests themselves, which code under test can "
        "change. The verdict, the limits and the exit code come from outside the jar.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .more_rows = limit_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .statuses = (const char *const[]){ "0", "every test passed or was skipped", "1",
                                       "a test failed, or the test runner did", "124, 137, 153",
                                       "a limit ended the tests: time, memory, output", "130",
                                       "cancelled", "125", "there are no tests, or no runner",
                                       NULL },
    .examples = (const char *const[]){ "Run the tests of the current directory:", "belljar test",
                                       "Run some tests of a project, for a CI system:",
                                       "belljar test --junit report.xml project -- -k parser",
                                       "Run tests beside the code:",
                                       "belljar test calc.py test_calc.py", NULL },
    .arguments_follow = true,
    .options_size = sizeof(struct test),
    .init = init,
    .done = done,
    .run = test,
};
