#include "allowlist/allowlist.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowlist/companions.h"
#include "allowlist/elf.h"
#include "allowlist/libraries.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "spec/listed.h"

/* PATH as inside a jar, see run/command_line.c. */
static const char *const places[] = { "/usr/local/bin", "/usr/bin", "/bin" };
enum { PLACES = ARRAY_LEN(places) };

struct file {
    char path[LISTED_PATH_MAX]; /* without links */
    bool execute;
    bool closed; /* its dependencies have been added */
};

struct closure {
    struct libraries libraries;
    struct file *files; /* LISTED_MAX of them */
    size_t n;
    struct buf sought; /* names of libraries already searched for, each with its NUL */
    bool own_code;
    char *const *names; /* the allowed names */
};

static void closure_done(struct closure *c)
{
    libraries_done(&c->libraries);
    buf_done(&c->sought);
    free(c->files);
}

static int no_memory(struct err *e)
{
    return err_no_memory(e, "the list of commands");
}

/* ---- names ---- */

static bool is_name(const char *name)
{
    if (!*name || *name == '-' || strlen(name) > NAME_MAX)
        return false;
    for (const char *p = name; *p; p++)
        if (*p == '/' || !isgraph((unsigned char)*p))
            return false;
    return true;
}

/* The file of a command, links followed. False if there is none. */
static bool find_command(const char *name, char out[PATH_MAX])
{
    for (int i = 0; i < PLACES; i++) {
        char path[PATH_MAX];
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/%s", places[i], name);
        if (realpath(path, out) && stat(out, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 0111)
            return true;
    }
    return false;
}

static const char *own_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_named(char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* The file of a name; an empty path for a command built into shells. */
static int look_up(char *const *names, const char *name, char out[PATH_MAX], struct err *e)
{
    char quoted[96];
    (void)text_quote(name, quoted, sizeof quoted);
    out[0] = '\0';
    bool builtin = companion_is_builtin(name);
    if (!builtin && !is_name(name))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not the name of a command: one word without a slash is, such as ls",
                       quoted);
    if (!find_command(name, out)) {
        out[0] = '\0';
        return builtin ? 0
                       : err_set(e, ERR_BAD_REQUEST, 0,
                                 "there is no command '%s' in /usr/local/bin, /usr/bin or /bin of "
                                 "this machine: install it, or leave it out of the list",
                                 quoted);
    }
    if (!listed_path(out))
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "command '%s' is '%.100s', which does not exist in jars: they have only /usr", quoted,
            out);
    if (companion_is_many(own_name(out)) && !is_named(names, own_name(out)))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "command '%s' is %s here, one file with many commands: to allow "
                       "all of them, list '%s' too",
                       quoted, out, own_name(out));
    return 0;
}

int allowlist_check(char *const *names, struct err *e)
{
    char path[PATH_MAX];
    for (char *const *name = names; *name; name++)
        if (look_up(names, *name, path, e))
            return -1;
    return 0;
}

static const char *shells(char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (const struct language *const *l = languages; *l; l++)
        if ((*l)->shell && n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", (*l)->name);
    return out;
}

int allowlist_possible(const struct language *l, const struct isolation *isolation,
                       bool writable_root, struct err *e)
{
    char known[200];
    if (!l->shell)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "a list of commands is only for shells (%s), and the language is '%s'",
                       shells(known, sizeof known), l->name);
    if (writable_root)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "a list of commands needs a read-only root: leave one of them out");
    if (isolation && isolation->level == LEVEL_PROCESS)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "a list of commands needs isolation level jar or rootless, and the level is '%s'",
            level_name(isolation->level));
    if (isolation && !(isolation->layers & LAYER_BIT(LAYER_LANDLOCK)))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "a list of commands needs Landlock, which this kernel lacks: use Linux 5.13 "
                       "or later with landlock in 'lsm=' of its command line");
    return 0;
}

/* ---- files ---- */

/* Adds a path without links. A path that does not exist, or not in a jar, is skipped, as its user
 * would skip it. */
static int add_file(struct closure *c, const char *path, bool execute, bool closed, struct err *e)
{
    if (!listed_path(path))
        return 0;
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->files[i].path, path) == 0) {
            c->files[i].execute |= execute;
            return 0;
        }
    }
    if (c->n == LISTED_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the commands need more than %d files: list fewer commands", LISTED_MAX);
    struct file *f = &c->files[c->n++];
    (void)snprintf(f->path, sizeof f->path, "%s", path);
    f->execute = execute;
    f->closed = closed;
    return 0;
}

static int add_real(struct closure *c, const char *path, bool execute, bool closed, struct err *e)
{
    char real[PATH_MAX];
    return realpath(path, real) ? add_file(c, real, execute, closed, e) : 0;
}

static int add_library(void *context, const char *path, struct err *e)
{
    return add_real(context, path, false, false, e);
}

static int add_all(struct closure *c, const char *const *patterns, bool execute, bool closed,
                   struct err *e)
{
    int rc = 0;
    for (; rc == 0 && patterns && *patterns; patterns++) {
        glob_t g;
        int found = glob(*patterns, GLOB_NOSORT, NULL, &g);
        if (found == GLOB_NOSPACE)
            return no_memory(e);
        for (size_t i = 0; rc == 0 && found == 0 && i < g.gl_pathc; i++)
            rc = add_real(c, g.gl_pathv[i], execute, closed, e);
        if (found == 0)
            globfree(&g);
    }
    return rc;
}

static int add_companions(struct closure *c, const char *path, struct err *e)
{
    for (const struct companion *row = companions; row->of; row++) {
        if (fnmatch(row->of, own_name(path), 0) != 0)
            continue;
        c->own_code |= row->own_code;
        if (add_all(c, row->reads, false, true, e) || add_all(c, row->loads, false, false, e) ||
            add_all(c, row->starts, true, true, e))
            return -1;
    }
    return 0;
}

/* ---- dependencies of a file ---- */

static bool was_sought(const struct closure *c, const char *name)
{
    for (size_t at = 0; at < c->sought.len; at += strlen(c->sought.data + at) + 1)
        if (strcmp(c->sought.data + at, name) == 0)
            return true;
    return false;
}

/* Nearly all files need the same few libraries, and one search takes dozens of system calls, for
 * which the keeper's loop waits. So each name is searched for once, except in the directories that
 * the file itself names. */
static int find_library(struct closure *c, const char *name, const char *search, const char *origin,
                        struct err *e)
{
    if (was_sought(c, name))
        return libraries_find_near(name, search, origin, add_library, c, e);
    if (buf_add(&c->sought, name, strlen(name) + 1, e))
        return -1;
    return libraries_find(&c->libraries, name, search, origin, add_library, c, e);
}

static int close_elf(struct closure *c, const char *path, const struct elf *f, struct err *e)
{
    char origin[LISTED_PATH_MAX];
    (void)snprintf(origin, sizeof origin, "%.*s", (int)(own_name(path) - path - 1), path);
    if (f->interpreter[0] && add_real(c, f->interpreter, true, true, e))
        return -1;
    for (char **name = f->needed; *name; name++)
        if (find_library(c, *name, f->runpath[0] ? f->runpath : f->rpath, origin, e))
            return -1;
    return 0;
}

/* The interpreter of a script must be on the list itself, because it is a program that can do more
 * than run this script. */
static int check_script(const struct closure *c, const char *path, const char *line, struct err *e)
{
    char word[PATH_MAX], real[PATH_MAX];
    line += strspn(line, " \t");
    size_t n = strcspn(line, " \t\n");
    const char *argument = line + n + strspn(line + n, " \t");
    (void)snprintf(word, sizeof word, "%.*s", (int)n, line);
    if (!realpath(word, real))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "command '%s' is a script for '%.100s', which does not exist",
                       own_name(path), word);
    bool allowed = false;
    for (size_t i = 0; i < c->n; i++)
        allowed = allowed || (c->files[i].execute && strcmp(c->files[i].path, real) == 0);
    if (!allowed)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "command '%s' is a script for '%.60s': list '%.60s' too, and the commands "
                       "that the script uses",
                       own_name(path), word, own_name(word));
    n = strcspn(argument, " \t\n");
    (void)snprintf(word, sizeof word, "%.*s", (int)n, argument);
    if (strcmp(own_name(real), "env") == 0 && !is_named(c->names, word))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "command '%s' is a script for '%.60s': list '%.60s' too, and the commands "
                       "that the script uses",
                       own_name(path), word, word);
    return 0;
}

static int close_file(struct closure *c, const char *path, bool program, struct err *e)
{
    char head[256] = "";
    scoped(elf) f = { 0 };
    struct err why;
    autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || pread(fd, head, sizeof head - 1, 0) < 0)
        return !program ? 0
                        : err_set(e, ERR_BAD_REQUEST, errno,
                                  "command '%s' cannot be read by belljar: make '%s' readable, or "
                                  "leave it out of the list",
                                  own_name(path), path);
    if (program && head[0] == '#' && head[1] == '!')
        return check_script(c, path, head + 2, e);
    if (elf_read(fd, &f, &why)) {
        if (program)
            return err_set(e, ERR_BAD_REQUEST, 0, "command '%s' cannot be allowed: it is %s",
                           own_name(path), why.text);
        return 0; /* the loader ignores a library of another machine too */
    }
    return close_elf(c, path, &f, e) || add_companions(c, path, e) ? -1 : 0;
}

/* Adds dependencies until nothing is missing. Programs come first, so that each finds whether its
 * interpreter is allowed. */
static int close_all(struct closure *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++) {
        /* a copy: the table does not move, but the compiler cannot know that */
        char path[LISTED_PATH_MAX];
        memcpy(path, c->files[i].path, sizeof path);
        if (!c->files[i].closed && close_file(c, path, c->files[i].execute, e))
            return -1;
        c->files[i].closed = true;
    }
    return 0;
}

static int add_commands(struct closure *c, const char *shell, struct err *e)
{
    char path[PATH_MAX];
    if (!realpath(shell, path))
        return err_set(e, ERR_BAD_REQUEST, errno, "the shell %s does not exist", shell);
    if (add_file(c, path, true, false, e))
        return -1;
    for (char *const *name = c->names; *name; name++)
        if (look_up(c->names, *name, path, e) || (path[0] && add_file(c, path, true, false, e)))
            return -1;
    return 0;
}

/* ---- the lists ---- */

void allowlist_done(struct allowlist *c)
{
    char **const lists[] = { c->executes, c->reads };
    for (int i = 0; i < 2; i++) {
        for (char **s = lists[i]; s && *s; s++)
            free(*s);
        free(lists[i]);
    }
    *c = (struct allowlist){ 0 };
}

static int make_lists(const struct closure *c, struct allowlist *ret, struct err *e)
{
    size_t n[2] = { 0 };
    struct allowlist made = { .executes = calloc(c->n + 1, sizeof *made.executes),
                              .reads = calloc(c->n + 1, sizeof *made.reads),
                              .own_code = c->own_code };
    char **const lists[] = { made.reads, made.executes };
    bool failed = !made.reads || !made.executes;
    for (size_t i = 0; !failed && i < c->n; i++) {
        const struct file *f = &c->files[i];
        lists[f->execute][n[f->execute]] = strdup(f->path);
        failed = !lists[f->execute][n[f->execute]++];
    }
    if (failed || listed_check(made.executes, made.reads, e)) {
        allowlist_done(&made);
        return failed ? no_memory(e) : -1;
    }
    *ret = made;
    return 0;
}

int allowlist_resolve(const char *shell, char *const *names, struct allowlist *ret, struct err *e)
{
    scoped(closure) c = { .files = calloc(LISTED_MAX, sizeof *c.files), .names = names };
    if (!c.files)
        return no_memory(e);
    return libraries_open(&c.libraries, e) || add_commands(&c, shell, e) || close_all(&c, e) ||
                   make_lists(&c, ret, e)
               ? -1
               : 0;
}

/* ---- repeated requests ---- */

void allowlist_memo_done(struct allowlist_memo *m)
{
    buf_done(&m->list);
}

int allowlist_usable(struct allowlist_memo *m, const char *shell, char *const *names, struct err *e)
{
    enum { BELIEVED_MS = 1000, LOOKS_MAX = 8 };
    scoped(buf) list = { 0 };
    scoped(allowlist) found = { 0 };
    uint64_t now = clock_ms();
    if (buf_add(&list, shell, strlen(shell) + 1, e))
        return -1;
    for (char *const *name = names; *name; name++)
        if (buf_add(&list, *name, strlen(*name) + 1, e))
            return -1;
    if (now - m->at_ms < BELIEVED_MS && m->list.len == list.len &&
        memcmp(m->list.data, list.data, list.len) == 0)
        return 0;
    if (now >= m->since_ms + BELIEVED_MS) {
        m->since_ms = now;
        m->looks = 0;
    }
    if (++m->looks > LOOKS_MAX)
        return allowlist_check(names, e);
    if (allowlist_resolve(shell, names, &found, e))
        return -1;
    struct buf old = m->list;
    m->list = list;
    list = old;
    m->at_ms = now;
    return 0;
}
