#include "cli/verify/operands.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "base/text.h"
#include "normalise/normalise.h"
#include "spec/bundle.h"

/* The output that is expected of the program FILE stands in FILE.expected. */
#define EXPECTED_END ".expected"

/* -1 with errno set in *e if the file cannot be opened. */
static int read_regular(const char *path, struct buf *ret, struct err *e)
{
    struct stat st;
    /* O_NONBLOCK: a FIFO without a writer must not block us */
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_BAD_REQUEST, errno, "'%s'",
                       QUOTED(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not a regular file: a Markdown file or a program is accepted",
                       QUOTED(path));
    return fd_read_to_buf(fd, VERIFY_FILE_MAX, ret, e) ? err_wrap(e, "'%s'", QUOTED(path)) : 0;
}

static int read_document(struct checks *all, const char *path, struct err *e)
{
    scoped(buf) text = { 0 };
    if (read_regular(path, &text, e))
        return -1;
    if (!text_is_utf8(buf_str(&text), text.len))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not UTF-8: convert it, with iconv for example", QUOTED(path));
    return blocks_read(all, path, buf_str(&text), text.len, e);
}

static int read_program(struct checks *all, const char *path, struct err *e)
{
    scoped(buf) text = { 0 }, expected = { 0 };
    char name[4096 + sizeof EXPECTED_END];
    struct err missing = { 0 };
    if (read_regular(path, &text, e))
        return -1;
    (void)snprintf(name, sizeof name, "%s" EXPECTED_END, path);
    bool compared = read_regular(name, &expected, &missing) == 0;
    if (!compared && missing.code != ERR_NOT_FOUND) {
        *e = missing;
        return -1;
    }
    struct check *c = checks_add(all, CHECK_FILE, path, 0, e);
    if (!c)
        return -1;
    c->language = language_guess(path, buf_str(&text), text.len);
    c->steps[0].compared = compared;
    c->steps[0].line = 1;
    return compared ? buf_add(&c->steps[0].expected, expected.data, expected.len, e) : 0;
}

static int read_one(struct checks *all, const char *path, struct err *e)
{
    return normalise_is_markdown(path) ? read_document(all, path, e) : read_program(all, path, e);
}

/* ---- directories ---- */

typedef int on_file(void *arg, const FTSENT *entry, struct err *e);

static bool is_left_out(const FTSENT *entry)
{
    return entry->fts_level > 0 &&
           (entry->fts_name[0] == '.' || strcmp(entry->fts_name, "node_modules") == 0 ||
            strcmp(entry->fts_name, "__pycache__") == 0);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int walk(const char *directory, on_file *take, void *arg, struct err *e)
{
    char *roots[] = { (char *)directory, NULL };
    int rc = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_name);
    if (!tree)
        return err_set(e, ERR_KERNEL, errno, "read the directory '%s'", QUOTED(directory));
    for (FTSENT *entry; rc == 0 && (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_D && is_left_out(entry))
            (void)fts_set(tree, entry, FTS_SKIP);
        else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
            rc = err_set(e, ERR_BAD_REQUEST, entry->fts_errno, "'%s'", QUOTED(entry->fts_path));
        else if (entry->fts_info == FTS_F)
            rc = take(arg, entry, e);
    }
    (void)fts_close(tree);
    return rc;
}

static int take_markdown(void *arg, const FTSENT *entry, struct err *e)
{
    return normalise_is_markdown(entry->fts_name) ? read_document(arg, entry->fts_path, e) : 0;
}

struct files_here {
    char ***names;
    uint64_t count, bytes;
};

static int take_file(void *arg, const FTSENT *entry, struct err *e)
{
    struct files_here *f = arg;
    char pair[2 * 4096 + 2];
    const char *name = entry->fts_path + (strncmp(entry->fts_path, "./", 2) == 0 ? 2 : 0);
    f->bytes += (uint64_t)entry->fts_statp->st_size;
    if (!S_ISREG(entry->fts_statp->st_mode))
        return 0;
    if (++f->count >= BUNDLE_FILES_MAX || f->bytes > BUNDLE_MAX_BYTES)
        return err_set(
            e, ERR_TOO_LARGE, 0,
            "this directory has too many files: up to %d files with %llu bytes go into a "
            "jar; --file names the files that the command needs",
            BUNDLE_FILES_MAX - 1, BUNDLE_MAX_BYTES);
    (void)snprintf(pair, sizeof pair, "%s:%s", name, name);
    return strchr(name, ':') ? 0 : strv_add(f->names, pair, e);
}

int operand_files_here(char ***ret, struct err *e)
{
    return walk(".", take_file, &(struct files_here){ .names = ret }, e);
}

/* ---- operands ---- */

static int read_pattern(struct checks *all, const char *pattern, struct err *e)
{
    glob_t found = { 0 };
    int rc = glob(pattern, 0, NULL, &found);
    if (rc != 0) {
        globfree(&found);
        return err_set(e, ERR_NOT_FOUND, 0, "no file has a name like '%s'", QUOTED(pattern));
    }
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        rc = read_one(all, found.gl_pathv[i], e);
    globfree(&found);
    return rc;
}

int operand_read(struct checks *all, const char *operand, struct err *e)
{
    struct stat st;
    bool missing = stat(operand, &st) < 0;
    if (!missing && S_ISDIR(st.st_mode))
        return walk(operand, take_markdown, all, e);
    if (missing && errno == ENOENT && strpbrk(operand, "*?["))
        return read_pattern(all, operand, e);
    return read_one(all, operand, e);
}
