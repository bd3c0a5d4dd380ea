#include "guests/sql/sql_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"

#define SHELL_FULL "/tmp/.full"

enum { SCRIPT_MAX_BYTES = 64 << 20, PRINT_AT_ONCE = 64 << 10 };

static int take_format(struct shell *s, const char *word)
{
    for (int i = 0; table_formats[i]; i++)
        if (strcmp(table_formats[i], word) == 0) {
            s->format = (enum table_format)i;
            return 0;
        }
    (void)fprintf(stderr,
                  "error: format '%s' is not known: expected table, csv, markdown, json or html\n",
                  word);
    return -1;
}

/* --db comes first, so that any value can follow "--". */
static int take_values(struct shell *s, int argc, char **argv)
{
    int at = 0;
    if (at < argc && strcmp(argv[at], "--db") == 0) {
        if (at + 1 == argc) {
            (void)fprintf(stderr, "error: --db needs the name of a file\n");
            return -1;
        }
        s->database = argv[at + 1];
        at += 2;
    }
    if (at < argc && strcmp(argv[at], "--") == 0)
        at++;
    s->values = argv + at;
    s->n_values = (size_t)(argc - at);
    return 0;
}

static int read_script(struct shell *s, const char *file)
{
    struct err e = { 0 };
    autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fd_read_to_buf(fd, SCRIPT_MAX_BYTES, &s->text, &e)) {
        (void)fprintf(stderr, "error: %s: %s\n", file, fd < 0 ? strerror(errno) : e.text);
        return -1;
    }
    s->script = (struct script){ file, buf_str(&s->text), s->text.len };
    return 0;
}

int shell_open(struct shell *s, int argc, char **argv)
{
    *s = (struct shell){ .report = { .fd = -1 } };
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    (void)setvbuf(stdout, NULL, _IOFBF, PRINT_AT_ONCE);
    if (argc < 4 || strcmp(argv[1], "--format") != 0) {
        (void)fprintf(stderr, "usage: %s --format FORMAT FILE [--db NAME] [--] [VALUE ...]\n",
                      argc > 0 ? argv[0] : "sql");
        return -1;
    }
    if (take_format(s, argv[2]) || take_values(s, argc - 4, argv + 4) || read_script(s, argv[3]))
        return -1;
    s->render = render_new(s->format, stdout);
    if (!s->render)
        return -1;
    sql_report_open(&s->report);
    return 0;
}

bool shell_is_session(int argc, char **argv)
{
    return argc >= 2 && strcmp(argv[1], "--session") == 0;
}

int shell_open_session(struct shell *s, int argc, char **argv)
{
    *s = (struct shell){ .report = { .fd = -1 } };
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    (void)setvbuf(stdout, NULL, _IOFBF, PRINT_AT_ONCE);
    if (take_values(s, argc - 2, argv + 2))
        return -1;
    s->render = render_new(s->format, stdout);
    s->tables = s->render ? sql_session_open() : NULL;
    return s->tables ? 0 : -1;
}

/* Uses no memory that was not in use a moment ago. Other processes of the jar may free space
 * meanwhile, so it tries more than once. */
static void fill_disk(void)
{
    enum { TRIES = 8 };
    struct statfs fs;
    off_t at = 0;
    autoclose int fd = open(SHELL_FULL, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0;
         fd >= 0 && i < TRIES && fstatfs(fd, &fs) == 0 && fs.f_bfree > 0 && fs.f_ffree > 0; i++) {
        off_t bytes = (off_t)fs.f_bfree * (off_t)fs.f_bsize;
        if (fallocate(fd, 0, at, bytes) == 0)
            at += bytes;
    }
}

int shell_close(struct shell *s, int status)
{
    if (s->disk_full)
        fill_disk();
    bool unwritten = fflush(stdout) == EOF || ferror(stdout);
    render_free(s->render);
    sql_report_done(&s->report);
    buf_done(&s->text);
    return status == 0 && unwritten ? 1 : status;
}

int shell_result_begin(struct shell *s, const struct column *columns, size_t n, struct err *e)
{
    return s->tables ? sql_table_begin(s->tables, columns, n, e)
                     : render_begin(s->render, columns, n, e);
}

void shell_statement(struct shell *s, size_t offset)
{
    if (!s->tables)
        sql_report_running(&s->report, offset);
}

/* A script shows the rows before the error. */
void shell_result_drop(struct shell *s)
{
    struct err ignored;
    sql_report_drop(&s->report);
    if (!s->tables)
        (void)!render_end(s->render, &ignored);
}

int shell_row(struct shell *s, const struct cell *cells, size_t n, struct err *e)
{
    if (s->tables)
        return sql_table_row(s->tables, cells, n, e);
    sql_report_row(&s->report, cells, n);
    return render_row(s->render, cells, e);
}

int shell_result_end(struct shell *s, const struct column *columns, size_t n, size_t line,
                     struct err *e)
{
    if (s->tables)
        return sql_table_end(s->tables, columns, n, e);
    sql_report_end(&s->report, columns, n, line);
    return render_end(s->render, e) || fflush(stdout) == EOF ? -1 : 0;
}
