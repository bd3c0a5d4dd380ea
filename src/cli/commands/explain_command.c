/* `belljar explain`: explains an error that was printed elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/run/terminal.h"
#include "examiner/examiner.h"
#include "examiner/exchange.h"
#include "examiner/question.h"
#include "run/diagnosis_json.h"
#include "run/json.h"
#include "runtime/language.h"

enum { TEXT_MAX = 16 << 20, SOURCES_MAX = 16 };

struct explain {
    const struct language *language;
    const char *sources[SOURCES_MAX];
    size_t n_sources;
    const char *file; /* the output of the program; NULL: standard input */
    bool json;
};

static int add_source(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct explain *x = options;
    if (x->n_sources == SOURCES_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "--%s '%s' is one file too many: up to %d are accepted", row->name,
                       QUOTED(value), SOURCES_MAX);
    x->sources[x->n_sources++] = value;
    return 0;
}

#define AT(member) offsetof(struct explain, member)
static const struct arg_row rows[] = {
    { "language", "LANG", .letter = 'l', .offset = AT(language), .apply = args_language,
      .values = { VALUES_WORDS, args_language_at },
      .help = "language of the program; otherwise it is inferred from the error" },
    { "source", "FILE", .repeats = true, .apply = add_source, .values.kind = VALUES_FILE,
      .help = "a source file of the program, to quote the line of the error" },
    { "json", .offset = AT(json), .help = "print JSON; null if there is no error in the text" },
};
#undef AT

static int read_file(const char *path, struct buf *b, struct err *e)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(path));
    return fd_read_to_buf(fd, TEXT_MAX, b, e) ? err_wrap(e, "read '%s'", QUOTED(path)) : 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int show(const struct diagnosis *d, bool json, struct err *e)
{
    scoped(buf) text = { 0 };
    if (json) {
        json_auto_t *o = d ? diagnosis_json(d) : json_null();
        if (json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_DIGITS) < 0 ||
            putchar('\n') == EOF || fflush(stdout) == EOF)
            return err_set(e, ERR_KERNEL, errno, "write the diagnosis");
        return 0;
    }
    if (!d) {
        (void)fprintf(stderr, "belljar: there is no error in this text; if there is one, -l LANG "
                              "names its language (see 'belljar languages')\n");
        return 0;
    }
    if (diagnosis_text(d, isatty(1) && !getenv("NO_COLOR"), terminal_columns(1), &text, e))
        return -1;
    return fd_write_all(1, text.data, text.len)
               ? err_set(e, ERR_KERNEL, errno, "write the diagnosis")
               : 0;
}

static int ask(const struct explain *x, const struct buf *text, const struct source_file *files,
               struct answer *ret, struct err *e)
{
    enum { QUESTION_ID = 1 };
    const struct language *l = x->language;
    const struct question q = {
        .id = QUESTION_ID,
        .explain = true,
        .input = { .language = l ? l->name : NULL,
                   .grammar = language_grammar(l),
                   .text = buf_str(text),
                   .len = text->len,
                   .main_name = x->n_sources ? files[0].name : NULL,
                   .sources = files,
                   .n_sources = x->n_sources,
                   .verdict = VERDICT_RUNTIME_ERROR },
    };
    scoped(buf) question = { 0 };
    int reader;
    if (question_pack(&q, &question, e) || examiner_one_reader(&reader, e))
        return -1;
    if (!exchange_run(reader, QUESTION_ID, &question, &(struct modules){ 0 }, ret))
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the text could not be read: its reader died or took too long");
    return 0;
}

static int explain(const struct explain *x, bool *ret_found, struct err *e)
{
    struct source_file files[SOURCES_MAX];
    struct buf bytes[SOURCES_MAX] = { 0 };
    scoped(buf) text = { 0 };
    scoped(answer) answer = { 0 };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < x->n_sources; i++) {
        rc = read_file(x->sources[i], &bytes[i], e);
        files[i] = (struct source_file){ base_name(x->sources[i]), buf_str(&bytes[i]),
                                         bytes[i].len };
    }
    if (rc == 0)
        rc = x->file ? read_file(x->file, &text, e) : fd_read_to_buf(0, TEXT_MAX, &text, e);
    if (rc == 0)
        rc = ask(x, &text, files, &answer, e);
    if (rc == 0) {
        *ret_found = answer.diagnosis != NULL;
        rc = show(answer.diagnosis, x->json, e);
    }
    for (size_t i = 0; i < x->n_sources; i++)
        buf_done(&bytes[i]);
    return rc;
}

static int explain_operands(void *options, int argc, char **argv, struct err *e)
{
    struct explain *x = options;
    bool found = false;
    if (argc > 0 && strcmp(argv[0], "-") != 0)
        x->file = argv[0];
    if (explain(x, &found, e))
        return -1;
    return found ? 0 : 1;
}

const struct cli_command explain_command = {
    .name = "explain",
    .summary = "explain an error that a program printed elsewhere",
    .usage = (const char *const[]){ "[OPTION]... [FILE|-]", NULL },
    .description = "Reads the output of a failed program or compiler, from FILE or standard input. "
                   "Explains the error, names its place and suggests a fix. Nothing is run.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = 1,
    .values.kind = VALUES_FILE,
    .statuses = (const char *const[]){ "0", "an error was found and explained", "1",
                                       "there is no error in the text", NULL },
    .examples = (const char *const[]){ "Explain an error of a Python program:",
                                       "python3 shop.py 2>&1 | belljar explain --source shop.py",
                                       "Explain the log of a Rust build:",
                                       "belljar explain -l rust build.log", NULL },
    .options_size = sizeof(struct explain),
    .run = explain_operands,
};
