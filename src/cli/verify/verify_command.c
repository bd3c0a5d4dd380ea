/* `belljar verify`: runs the code of documents, files and commands, and judges it. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "base/tree.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/manual/page.h"
#include "cli/verify/operands.h"
#include "cli/verify/pool.h"
#include "cli/verify/report.h"
#include "cli/verify/reporter.h"
#include "run/json.h"

enum { JOBS_MAX = 64 };

struct verify {
    struct pool_options pool;
    char **only;
    const char *junit;
    bool list, json, verbose;
};

/* ---- options ---- */

static int add_only(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    (void)row;
    return strv_add(&((struct verify *)options)->only, value, e);
}

static int add_file(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    (void)row;
    return strv_add(&((struct verify *)options)->pool.files, value, e);
}

static int set_jobs(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, JOBS_MAX, &((struct verify *)options)->pool.jobs, e);
}

static int set_limit(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct verify *v = options;
    enum limit_id id = (enum limit_id)((const struct limit_def *)row->def - limit_defs);
    struct limits ignored = limits_default();
    if (limit_parse(id, value, &ignored, e))
        return -1;
    free(v->pool.limits[id]);
    v->pool.limits[id] = strdup(value);
    return v->pool.limits[id] ? 0 : err_no_memory(e, "the options");
}

#define AT(member) offsetof(struct verify, member)
static const struct arg_row rows[] = {
    { "list", .offset = AT(list), .help = "list the checks and run none" },
    { "only", "PATTERN", .repeats = true, .apply = add_only,
      .help = "only checks whose FILE:LINE, file name or language is like PATTERN",
      .example = "--only 'README.md:*'" },
    { "file", "HOST[:NAME]", .repeats = true, .apply = add_file, .values.kind = VALUES_FILE,
      .help = "put a file beside every program; a command then gets these files only" },
    { "junit", "FILE", .offset = AT(junit), .values.kind = VALUES_FILE,
      .help = "write a report for CI systems (JUnit XML)" },
    { "json", .offset = AT(json), .help = "print one JSON object" },
    { "verbose", .letter = 'v', .offset = AT(verbose), .help = "name the checks that passed, too" },
    { "jobs", "N", .letter = 'j', .apply = set_jobs, .default_text = "the number of CPUs",
      .help = "checks at the same time" },
    { "local", .offset = AT(pool.local), .help = "do not use a running service" },
};
#undef AT

static size_t limit_rows(struct arg_row *out)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        out[i] = (struct arg_row){ .name = d->option,
                                   .metavar = d->metavar,
                                   .help = d->help,
                                   .group = "Limits",
                                   .apply = set_limit,
                                   .def = d };
    }
    return LIMIT_COUNT;
}

static void init(void *options)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = cpus < 1 ? 1 : cpus > JOBS_MAX ? JOBS_MAX : (unsigned)cpus;
    *(struct verify *)options = (struct verify){ .pool.jobs = jobs };
}

static void done(void *options)
{
    struct verify *v = options;
    strv_free(v->only);
    strv_free(v->pool.files);
    for (int i = 0; i < LIMIT_COUNT; i++)
        free(v->pool.limits[i]);
}

/* ---- checks ---- */

static bool is_wanted(const struct verify *v, const struct check *c)
{
    char place[4200];
    check_place(c, place, sizeof place);
    for (char **pattern = v->only; pattern && *pattern; pattern++)
        if (fnmatch(*pattern, place, 0) == 0 || fnmatch(*pattern, c->file, 0) == 0 ||
            (c->language && fnmatch(*pattern, c->language->name, 0) == 0))
            return true;
    return v->only == NULL;
}

/* Removes the checks that are not wanted. A wanted block needs the blocks that it continues. */
static int select_wanted(const struct verify *v, struct checks *all, struct err *e)
{
    size_t wanted = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (!is_wanted(v, &all->at[i]))
            continue;
        wanted++;
        for (int k = (int)i; k >= 0; k = all->at[k].prior)
            all->at[k].selected = true;
    }
    if (v->only && wanted == 0)
        return err_set(e, ERR_USAGE, 0,
                       "--only '%s' is like none of the %zu checks: --list prints them",
                       QUOTED(v->only[0]), all->n);
    checks_keep_selected(all);
    return 0;
}

static int add_command(struct verify *v, struct checks *all, char **words, struct err *e)
{
    scoped(buf) name = { 0 };
    for (char **word = words; *word; word++)
        if (buf_addf(&name, e, "%s%s", word == words ? "" : " ", *word))
            return -1;
    struct check *c = checks_add(all, CHECK_COMMAND, buf_str(&name), 0, e);
    if (!c)
        return -1;
    c->language = language_find("bash");
    v->pool.command = words;
    return v->pool.files ? 0 : operand_files_here(&v->pool.files, e);
}

static int read_operands(struct verify *v, struct checks *all, int argc, char **argv, struct err *e)
{
    char **words = argv[argc] ? argv + argc + 1 : NULL;
    bool command = words && *words;
    if (argc == 0 && !command)
        return err_set(e, ERR_USAGE, 0,
                       "nothing to verify: files, directories or '-- COMMAND' are accepted; see "
                       "'belljar verify --help'");
    if (argc > 0 && words)
        return err_set(e, ERR_USAGE, 0,
                       "'%s' and a command after --: one of them is accepted at a time",
                       QUOTED(argv[0]));
    for (int i = 0; i < argc; i++)
        if (operand_read(all, argv[i], e))
            return -1;
    return command ? add_command(v, all, words, e) : 0;
}

/* ---- runs ---- */

/* Lists the checks. They hold no byte that a program wrote. */
static int list(const struct verify *v, const struct checks *all, struct err *e)
{
    if (!v->json) {
        report_list(all);
        return 0;
    }
    json_auto_t *o = report_json(all, 0);
    bool failed = !o || json_dumpf(o, stdout, JSON_INDENT(2) | JSON_DIGITS) < 0 ||
                  putchar('\n') == EOF || fflush(stdout) == EOF;
    return failed ? err_set(e, ERR_KERNEL, errno, "write the list") : 0;
}

/* Runs the checks, with a directory for their programs. */
static int run_all(struct verify *v, struct checks *all, struct reporter *r, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char directory[4096];
    struct err ignored;
    (void)snprintf(directory, sizeof directory, "%s/belljar-verify-XXXXXX",
                   tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(directory))
        return err_set(e, ERR_KERNEL, errno, "make the directory '%s'", QUOTED(directory));
    v->pool.directory = directory;
    int rc = pool_run(all, &v->pool, reporter_send, r, e);
    if (tree_remove(AT_FDCWD, directory, rc ? &ignored : e))
        rc = -1;
    return rc;
}

static int verify(struct verify *v, struct checks *all, struct err *e)
{
    autoclose int junit = -1;
    scoped(reporter) r = REPORTER_INIT;
    if (v->junit) {
        junit = open(v->junit, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (junit < 0)
            return err_set(e, ERR_BAD_REQUEST, errno, "write '%s'", QUOTED(v->junit));
    }
    const struct reporter_options o = { v->json, v->verbose, junit };
    if (reporter_start(&r, all, &o, e) || run_all(v, all, &r, e))
        return -1;
    return reporter_finish(&r, e);
}

static int verify_operands(void *options, int argc, char **argv, struct err *e)
{
    struct verify *v = options;
    scoped(checks) all = { 0 };
    if (read_operands(v, &all, argc, argv, e) || select_wanted(v, &all, e))
        return -1;
    if (all.n == 0)
        (void)fprintf(stderr, "belljar: there is no block to run: blocks that name a language are "
                              "run (see 'belljar languages')\n");
    return v->list ? list(v, &all, e) : verify(v, &all, e);
}

/* ---- the command ---- */

static void sections(struct page *p)
{
    page_section(p, "Words after the language of a block");
    for (size_t i = 0; word_term(i); i++)
        page_item(p, word_term(i), word_help(i));
    page_item(p, "timeout=DUR, memory=SIZE, ...", "a limit of the block, named as its option");
}

const struct cli_command verify_command = {
    .name = "verify",
    .summary = "run the code of documents, files and commands, and compare the output",
    .usage = (const char *const[]){ "[OPTION]... FILE|DIRECTORY|PATTERN...",
                                    "[OPTION]... -- COMMAND [ARG]...", NULL },
    .description =
        "Runs each fenced block of a Markdown file that names a language, each in a jar of its "
        "own. "
        "Any other FILE is run as a program. A program must end well, and print the expected "
        "output if there is one.\n\n"
        "The expected output of a block is the block named 'output' that follows it, or a block "
        "named 'text' that follows it directly. In a 'console' block, it stands below each "
        "'$ command'; below '>>>' in Python, it is the value. The expected output of FILE is in "
        "FILE.expected. A line of ... stands for any lines, and ... in a line for any text.\n\n"
        "A COMMAND runs beside a copy of the files of the current directory.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .more_rows = limit_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .sections = sections,
    .statuses = (const char *const[]){ "0", "every check passed or was skipped", "1",
                                       "a check failed", "130", "cancelled", NULL },
    .examples = (const char *const[]){ "Run the examples of a document:",
                                       "belljar verify README.md",
                                       "Run those in Python of all documents, for a CI system:",
                                       "belljar verify --only python --junit report.xml docs",
                                       "Run the tests of a project in a jar:",
                                       "belljar verify -- pytest -q", NULL },
    .arguments_follow = true,
    .options_size = sizeof(struct verify),
    .init = init,
    .done = done,
    .run = verify_operands,
};
