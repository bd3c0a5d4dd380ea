/* `belljar explain`: what an error means that was printed elsewhere. */
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
#include "diagnose/core/diagnose.h"
#include "run/diagnosis_json.h"
#include "run/json.h"
#include "runtime/language.h"

enum { TEXT_MAX = 16 << 20, SOURCES_MAX = 16 };

struct explain {
    const struct language *language;
    char *sources[SOURCES_MAX];
    size_t n_sources;
    const char *file; /* what the program printed; NULL: standard input */
    bool json, help;
};

static const struct arg_row rows[] = {
    { "language", "LANG", 'l' | ARG_LETTER,
      "language; otherwise told by what the error looks like" },
    { "source", "FILE", 's', "a file of the program, for what its lines say; can be repeated" },
    { "json", NULL, 'j', "print JSON; null when no error was found" },
    { "help", NULL, ARG_HELP, "show this" },
};

static const struct arg_table table = {
    "explain",
    "Usage: belljar explain [OPTION]... [FILE|-]\n\n"
    "Reads what a failed program or compiler printed, from FILE or standard input, and says what\n"
    "went wrong, where, and what may help. Nothing is run. The exit status is 1 when no error was\n"
    "found in it.\n\n"
    "  python3 shop.py 2>&1 | belljar explain --source shop.py\n"
    "  belljar explain -l rust build.log\n",
    rows,
    ARRAY_LEN(rows),
};

static int apply(void *context, int key, char *value, struct err *e)
{
    struct explain *x = context;
    if (key == 'j') {
        x->json = true;
    } else if (key == ARG_HELP) {
        x->help = true;
    } else if (key == 'l') {
        x->language = language_find(value);
        if (!x->language)
            return language_refuse(value, e);
    } else if (key == 's') {
        if (x->n_sources == SOURCES_MAX)
            return err_set(e, ERR_BAD_REQUEST, 0, "more than %d files with --source", SOURCES_MAX);
        x->sources[x->n_sources++] = value;
    }
    return 0;
}

static int read_file(const char *path, struct buf *b, struct err *e)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(path));
    return fd_read_to_buf(fd, TEXT_MAX, b, e);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int show(const struct diagnosis *d, bool found, bool json, struct err *e)
{
    scoped(buf) text = { 0 };
    if (json) {
        json_auto_t *o = found ? diagnosis_json(d) : json_null();
        if (json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_DIGITS) < 0 ||
            putchar('\n') == EOF || fflush(stdout) == EOF)
            return err_set(e, ERR_KERNEL, errno, "write the diagnosis");
        return 0;
    }
    if (!found) {
        (void)fprintf(stderr, "belljar: no error was found in that; -l LANG says how to read it "
                              "(see 'belljar languages')\n");
        return 0;
    }
    if (diagnosis_text(d, isatty(1) && !getenv("NO_COLOR"), terminal_columns(1), &text, e))
        return -1;
    return fd_write_all(1, text.data, text.len)
               ? err_set(e, ERR_KERNEL, errno, "write the diagnosis")
               : 0;
}

static int explain(const struct explain *x, bool *ret_found, struct err *e)
{
    struct source_file files[SOURCES_MAX];
    struct buf bytes[SOURCES_MAX] = { 0 };
    scoped(buf) text = { 0 };
    struct diagnoser *g = NULL;
    autofree struct diagnosis *d = malloc(sizeof *d);
    int rc = d ? 0 : err_set(e, ERR_NO_MEMORY, 0, "no memory to explain with");
    for (size_t i = 0; rc == 0 && i < x->n_sources; i++) {
        rc = read_file(x->sources[i], &bytes[i], e);
        files[i] = (struct source_file){ base_name(x->sources[i]), buf_str(&bytes[i]),
                                         bytes[i].len };
    }
    if (rc == 0)
        rc = x->file ? read_file(x->file, &text, e) : fd_read_to_buf(0, TEXT_MAX, &text, e);
    if (rc == 0)
        rc = diagnoser_new(&g, e);
    if (rc == 0) {
        const struct language *l = x->language;
        const struct diagnose_input in = {
            .language = l ? l->name : NULL,
            .grammar = language_grammar(l),
            .text = buf_str(&text),
            .len = text.len,
            .main_name = x->n_sources ? files[0].name : NULL,
            .sources = files,
            .n_sources = x->n_sources,
            .verdict = VERDICT_RUNTIME_ERROR,
        };
        *ret_found = diagnose(g, &in, d);
        rc = show(d, *ret_found, x->json, e);
    }
    for (size_t i = 0; i < x->n_sources; i++)
        buf_done(&bytes[i]);
    diagnoser_free(g);
    return rc;
}

int cmd_explain(int argc, char **argv)
{
    struct explain x = { 0 };
    struct err e = { 0 };
    int first;
    bool found = false;
    if (args_parse(&table, argc, argv, apply, &x, &first, &e))
        return cli_fail(&e);
    if (x.help) {
        args_help(&table);
        return 0;
    }
    if (first < argc && strcmp(argv[first], "-") != 0)
        x.file = argv[first];
    if (first + 1 < argc) {
        (void)!args_refuse_operand(&table, argv[first + 1], &e);
        return cli_fail(&e);
    }
    if (explain(&x, &found, &e))
        return cli_fail(&e);
    return found ? 0 : 1;
}
