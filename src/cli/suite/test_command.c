/* `belljar test`: runs the tests of a project over a copy, in a jar.
 *
 * main finds the files and the test runner; reported_run.h has the two processes beside it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/directory.h"
#include "base/strv.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/run/project.h"
#include "cli/run/run_mounts.h"
#include "cli/suite/reported_run.h"
#include "cli/suite/test_report.h"

struct test {
    struct run_arguments run;
    const char *junit;
    const char *directory; /* NULL: files are given */
    bool json, verbose;
};
_Static_assert(offsetof(struct test, run) == 0, "reported_limit_rows()");

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
enum { TEST_WALL_MS = 120000 };

static size_t limit_rows(struct arg_row *out)
{
    const struct limits defaults = reported_limits(TEST_WALL_MS);
    return reported_limit_rows(&defaults, out);
}

static void init(void *options)
{
    struct test *t = options;
    *t = (struct test){ 0 };
    run_arguments_init(&t->run);
    t->run.limits = reported_limits(TEST_WALL_MS);
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
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    suite_see(s, name);
    return reported_file_add(&t->run, path, name, e);
}

/* Packages are not copied. A project that has the package of a runner brings the runner. */
static void see_packages(const char *directory, struct suite_search *s)
{
    struct stat st;
    char path[4096];
    for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++) {
        const struct suite_runner *r = suite_runner((enum test_runner)i);
        if (!r->package)
            continue;
        (void)snprintf(path, sizeof path, "%s/node_modules/%s/package.json", directory, r->package);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            s->present |= 1U << i;
    }
}

/* The jar sees the packages of the project, read-only. A service need not have them. */
static int mount_packages(struct test *t, struct err *e)
{
    char path[4096];
    autoclose int fd = -1;
    autofree char *directory = realpath(t->directory, NULL);
    (void)snprintf(path, sizeof path, "%s/node_modules", directory ? directory : t->directory);
    if (directory_open(AT_FDCWD, path, 0, path, &fd, e) || directory_path(fd, path, sizeof path, e))
        return err_wrap(e, "show the packages of the project to the tests");
    t->run.local = true;
    return strv_add(&t->run.mount_roots, path, e) ||
                   strv_add(&t->run.mount_names, "node_modules", e) || run_mounts_check(&t->run, e)
               ? -1
               : 0;
}

/* One directory, or files that are copied side by side. */
static int take_operands(struct test *t, struct suite_search *s, int argc, char **argv,
                         struct err *e)
{
    struct stat st;
    const char *first = argc > 0 ? argv[0] : ".";
    if (stat(first, &st) < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "'%s'", QUOTED(first));
    if (S_ISDIR(st.st_mode) && argc <= 1) {
        t->directory = first;
        see_packages(first, s);
        return project_copy(&t->run, first, see, s, e);
    }
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
    if (*chosen == TEST_RUNNER_NONE && suite_choose(s, chosen, e))
        return -1;
    if (s->present & 1U << *chosen)
        return mount_packages(t, e);
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

static int report(int in, const void *options, struct err *e)
{
    return test_report(in, options, e);
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
    const struct reported_run run = {
        .run = &t->run, .report = report, .options = &o, .keep_fd = junit
    };
    return reported_run(&run, e);
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
