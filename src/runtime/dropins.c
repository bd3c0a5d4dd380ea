#include "runtime/dropins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "runtime/declaration.h"

void dropins_done(struct dropins *d)
{
    for (size_t i = 0; i < d->n; i++)
        declaration_free(d->languages[i]);
    for (size_t i = 0; i < d->n_problems; i++)
        free(d->problems[i]);
    *d = (struct dropins){ 0 };
}

void dropins_problem(struct dropins *d, const struct err *why)
{
    if (d->n_problems < DROPINS_FILES_MAX && (d->problems[d->n_problems] = strdup(why->text)))
        d->n_problems++;
}

/* The rule that ssh has for its key files. */
static int check_owner(const struct stat *st, const char *path, struct err *e)
{
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return err_set(
            e, ERR_DENIED, 0,
            "%s belongs to uid %u: only files of root or of the current user are read, because "
            "they name commands to run",
            path, st->st_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return err_set(
            e, ERR_DENIED, 0,
            "%s can be written by others (mode %04o): run 'chmod go-w %s' to have it read", path,
            (unsigned)st->st_mode & 07777, path);
    return 0;
}

static int read_one(int dir_fd, const char *name, struct dropins *d, struct err *e)
{
    struct stat st;
    scoped(buf) text = { 0 };
    char quoted[96];
    text_quote(name, quoted, sizeof quoted);
    /* O_NONBLOCK: opening a FIFO must not block. */
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_DENIED, errno, "open %s", quoted);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_DENIED, 0, "%s is not a file", quoted);
    if (check_owner(&st, quoted, e))
        return -1;
    if (fd_read_to_buf(fd, DECLARATION_MAX_BYTES, &text, e))
        return err_wrap(e, "%s", quoted);
    if (declaration_parse(quoted, buf_str(&text), text.len, &d->languages[d->n], e))
        return -1;
    d->n++;
    return 0;
}

static int is_declaration(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 5 && strcmp(entry->d_name + n - 5, ".lang") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int dropins_read(const char *dir, struct dropins *ret, struct err *e)
{
    struct stat st;
    struct dirent **names = NULL;
    char quoted[96];
    text_quote(dir, quoted, sizeof quoted);
    autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_DENIED, errno,
                       "open the directory of languages '%s'", quoted);
    if (check_owner(&st, quoted, e))
        return err_wrap(e, "the directory of languages");
    int n = scandirat(fd, ".", &names, is_declaration, by_bytes);
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "read the directory of languages '%s'", quoted);
    for (int i = 0; i < n; i++) {
        struct err why = { 0 };
        if (i >= DROPINS_FILES_MAX)
            (void)!err_set(&why, ERR_TOO_LARGE, 0, "%s is one file too many: up to %d are read",
                           names[i]->d_name, DROPINS_FILES_MAX);
        if (why.code != ERR_NONE || read_one(fd, names[i]->d_name, ret, &why))
            dropins_problem(ret, &why);
        free(names[i]);
    }
    free((void *)names);
    return 0;
}
