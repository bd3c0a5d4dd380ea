/* `belljar fix`: runs a program, tries the suggestions for its failure, and shows the change that cures
 * it. With --apply, main makes this change in the file.
 *
 * The answer of the service has texts of the program, so a child without rights reads it. The child
 * tells main a line and its replacement, and nothing else: main changes one place of the file
 * (FIX-1). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/batch/program.h"
#include "cli/batch/repeat.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/run/diagnosis_view.h"
#include "cli/run/fixes_view.h"
#include "cli/run/inputs.h"
#include "cli/run/own_service.h"
#include "fixes/fix.h"
#include "spec/bundle.h"

enum { STATUS_FINE = 0, STATUS_NOT_CURED = 1 };

/* Written by the child, read by main. */
struct told {
    bool cures, inserts;
    uint32_t line;
    char file[BUNDLE_NAME_MAX + 1];
    char replacement[1024];
};

struct fix_options {
    struct run_arguments run; /* first: its rows have offsets into it */
    bool apply;
};

struct fix_job {
    const struct fix_options *options;
    const char *request;
    struct told *told; /* shared memory */
};

/* ---- in the child ---- */

static uint32_t number_at(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));
    return n > 0 && n < INT32_MAX ? (uint32_t)n : 0;
}

static void tell(struct told *told, const json_t *result)
{
    const json_t *c = fixes_best(result);
    const char *file = json_string_value(json_object_get(c, "file"));
    const char *replacement = json_string_value(json_object_get(c, "replacement"));
    const char *action = json_string_value(json_object_get(c, "action"));
    if (!file || !replacement || !action || strlen(replacement) >= sizeof told->replacement)
        return;
    told->inserts = strcmp(action, "insert") == 0;
    told->line = number_at(c, "line");
    (void)snprintf(told->file, sizeof told->file, "%s", file);
    (void)snprintf(told->replacement, sizeof told->replacement, "%s", replacement);
    told->cures = true;
}

static int work(struct client *c, void *context, struct err *e)
{
    const struct fix_job *j = context;
    json_auto_t *result = NULL;
    if (program_ask(c, "/v1/runs", j->request, &result, e))
        return -1;
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    bool ok = verdict && strcmp(verdict, "ok") == 0;
    tell(j->told, result);
    if (j->options->run.json) {
        if (program_print(result, e))
            return -1;
    } else if (ok) {
        (void)printf("the program ends well: there is nothing to fix\n");
    } else {
        if (diagnosis_view_wanted(&j->options->run))
            diagnosis_view_print(json_object_get(result, "diagnosis"));
        if (fixes_view_print(result, stdout, e))
            return -1;
        if (!j->told->cures)
            (void)printf("no suggestion cures the error\n");
    }
    return ok || j->told->cures ? STATUS_FINE : STATUS_NOT_CURED;
}

/* ---- in main ---- */

/* The program of the request is the file itself, and not a part of its text. */
static int read_program(const struct run_arguments *o, char name[BUNDLE_NAME_MAX + 1],
                        struct buf *ret, struct err *e)
{
    scoped(inputs) in = INPUTS_INIT;
    scoped(buf) bundle = { 0 };
    struct bundle_entry f = { 0 };
    bool more = true;
    size_t pos = 0;
    autoclose int fd = open(o->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(e, ERR_NOT_FOUND, errno, "'%s'", QUOTED(o->file));
    if (fd_read_to_buf(fd, BUNDLE_FILE_MAX_BYTES, ret, e) || inputs_load(&in, o, e) ||
        inputs_files(&in, &bundle, e))
        return -1;
    (void)snprintf(name, BUNDLE_NAME_MAX + 1, "%s", in.main_name);
    while (bundle_next(&bundle, &pos, &f, &more, e) == 0 && more)
        if (bundle_is_named(&f, in.main_name) && f.head.size == ret->len &&
            memcmp(f.bytes, buf_str(ret), ret->len) == 0)
            return 0;
    return err_set(
        e, ERR_BAD_REQUEST, 0,
        "'%s' is not the program itself, but a text or a directory that has it: 'belljar "
        "fix' without --apply shows the change",
        QUOTED(o->file));
}

/* Beside the file, and then in its place: nobody sees half of it. A link stays a link. */
static int replace_file(const char *file, const struct buf *text, struct err *e)
{
    autofree char *path = realpath(file, NULL), *fresh = NULL;
    struct stat st;
    if (!path || stat(path, &st) < 0 || asprintf(&fresh, "%s.belljar-XXXXXX", path) < 0)
        return err_set(e, ERR_KERNEL, errno, "change '%s'", QUOTED(file));
    autoclose int fd = mkostemp(fresh, O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file beside '%s'", QUOTED(file));
    if (fd_write_all(fd, text->data, text->len) == 0 && fchmod(fd, st.st_mode & 07777) == 0 &&
        (fchown(fd, st.st_uid, st.st_gid) == 0 || errno == EPERM) && fsync(fd) == 0 &&
        rename(fresh, path) == 0)
        return 0;
    (void)!err_set(e, ERR_KERNEL, errno, "change '%s'", QUOTED(file));
    (void)unlink(fresh);
    return -1;
}

static int apply(const struct run_arguments *o, const char *name, const struct buf *program,
                 const struct told *told, struct err *e)
{
    scoped(fix) fix = { 0 };
    struct fix_request q = { .file = name,
                             .text = buf_str(program),
                             .len = program->len,
                             .line = told->line,
                             .replacement = told->replacement,
                             .inserts = told->inserts };
    if (strcmp(told->file, name) != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the change is in '%s', and --apply changes '%s' alone: make it by hand",
                       QUOTED(told->file), QUOTED(o->file));
    if (fix_make(&q, &fix, e) || replace_file(o->file, &fix.text, e))
        return -1;
    (void)fprintf(stderr, "belljar: line %u of '%s' is changed\n", fix.line, QUOTED(o->file));
    return STATUS_FINE;
}

static int fix(void *options, int argc, char **argv, struct err *e)
{
    struct fix_options *o = options;
    char name[BUNDLE_NAME_MAX + 1] = "";
    scoped(own_service) own = { 0 };
    scoped(confined) x = CONFINED_INIT;
    scoped(buf) program = { 0 };
    autofree char *request = NULL;
    if (argc != 1)
        return err_set(e, ERR_USAGE, 0,
                       "fix needs one program: 'belljar fix FILE'; see 'belljar fix --help'");
    const char *input = o->run.stdin_file;
    if (program_take(&o->run, argv[0], argv + argc, e))
        return -1;
    o->run.stdin_file = input ? input : "/dev/null";
    if (o->run.run_options.fixes == FIXES_NONE)
        o->run.run_options.fixes = FIXES_TRY;
    if ((o->apply && read_program(&o->run, name, &program, e)) ||
        repeat_request(&o->run, &request, e) || own_service_find(&own, &o->run, NULL, &x, e))
        return -1;
    struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                             -1, 0);
    if (told == MAP_FAILED)
        return err_no_memory(e, "the answer");
    struct fix_job job = { .options = o, .request = request, .told = told };
    int status = confined_run(&x, work, &job, e);
    struct told said = *told; /* the child is gone */
    (void)munmap(told, sizeof *told);
    said.file[sizeof said.file - 1] = said.replacement[sizeof said.replacement - 1] = '\0';
    return status == STATUS_FINE && o->apply && said.cures
               ? apply(&o->run, name, &program, &said, e)
               : status;
}

static const struct arg_row rows[] = {
    { "apply", .offset = offsetof(struct fix_options, apply),
      .help = "make the change that cures the error in FILE" },
    { "stdin", "FILE", .offset = offsetof(struct fix_options, run.stdin_file),
      .values.kind = VALUES_FILE, .help = "standard input of the program; otherwise empty" },
};

static size_t fix_rows(struct arg_row *out)
{
    memcpy(out, rows, sizeof rows);
    return ARRAY_LEN(rows) + program_rows(out + ARRAY_LEN(rows));
}

static void done(void *options)
{
    run_arguments_done(&((struct fix_options *)options)->run);
}

const struct cli_command fix_command = {
    .name = "fix",
    .summary = "try the suggestions for a program that fails, and show the change that cures it",
    .usage = (const char *const[]){ "[OPTION]... FILE [-- ARG...]", NULL },
    .description =
        "Runs a program. If it fails, runs it again with each line that the diagnosis suggests, "
        "each "
        "time in a jar of its own with the same input, and shows the changes with their outcomes. "
        "--apply makes the first change that cures the error in FILE.\n\n"
        "Without a running service, belljar starts a private one.",
    .more_rows = fix_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .statuses = (const char *const[]){ "0", "a change cures the error, or there is none", "1",
                                       "no change cures it", "130", "cancelled", NULL },
    .examples = (const char *const[]){ "Show the change that cures the error:",
                                       "belljar fix shop.py", "Make it:",
                                       "belljar fix --apply shop.py --stdin orders.csv", NULL },
    .arguments_follow = true,
    .options_size = sizeof(struct fix_options),
    .init = run_arguments_init,
    .done = done,
    .run = fix,
};
