#include "cli/run/project.h"

#include <dirent.h>
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
#include "base/text.h"
#include "spec/bundle.h"

enum { DEPTH_MAX = 32 };

/* The names of an entry without their ends, the most likely first. */
static const char *const stems[] = { "main", "index",   "app",     "__main__",
                                     "Main", "program", "solution" };
/* Folders that a package manager or an interpreter fills. */
static const char *const folders[] = { "node_modules", "__pycache__", "venv", "env", NULL };
/* A program that nobody trusts gets no key, unless --file names it. */
static const char *const secrets[] = { "*.pem",      "*.key",        "*.p12",     "*.pfx",
                                       "id_rsa*",    "id_dsa*",      "id_ecdsa*", "id_ed25519*",
                                       "*.keystore", "credentials*", NULL };

static bool matches(const char *const *patterns, const char *name)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

/* ---- the entry ---- */

struct entry {
    char name[BUNDLE_PART_MAX + 1];  /* "": none so far */
    char other[BUNDLE_PART_MAX + 1]; /* one more that is as likely; "": none */
    size_t rank;                     /* of the stem; ARRAY_LEN(stems): another program */
};

static void offer_entry(struct entry *x, const struct language *wanted, const char *name)
{
    const struct language *l = language_by_name(name);
    const char *dot = strrchr(name, '.');
    size_t rank = 0;
    if (!l || (wanted && l != wanted) || strlen(name) > BUNDLE_PART_MAX)
        return;
    while (rank < ARRAY_LEN(stems) && (strlen(stems[rank]) != (size_t)(dot - name) ||
                                       strncmp(stems[rank], name, strlen(stems[rank])) != 0))
        rank++;
    if (x->name[0] && rank > x->rank)
        return;
    bool as_likely = x->name[0] && rank == x->rank;
    (void)snprintf(as_likely ? x->other : x->name, sizeof x->name, "%s", name);
    if (!as_likely)
        x->other[0] = '\0';
    x->rank = rank;
}

static int check_entry(const struct entry *x, const char *dir, struct err *e)
{
    if (!x->name[0])
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "directory '%s' has no program: a file such as main.py or index.js is looked "
            "for",
            QUOTED(dir));
    if (!x->other[0])
        return 0;
    char one[96], two[96];
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "directory '%s' has '%s', '%s' and maybe more: name the program, or call it "
                   "main",
                   QUOTED(dir), text_quote(x->name, one, sizeof one),
                   text_quote(x->other, two, sizeof two));
}

/* ---- the files ---- */

struct walk {
    struct run_arguments *o;
    const char *top;
    struct entry entry;
    unsigned depth;
    void (*see)(void *arg, const char *name); /* NULL: nobody wants to know */
    void *arg;
};

static int add_file(struct walk *w, const char *name, struct err *e)
{
    struct run_arguments *o = w->o;
    struct file_pair *grown = realloc(o->files, (o->n_files + 1) * sizeof *grown);
    struct file_pair pair = { 0 };
    if (!grown)
        return err_no_memory(e, "the files");
    o->files = grown;
    if (o->n_files >= BUNDLE_FILES_MAX - 1)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "directory '%s' has more than %d files: name the program, and give the "
                       "others with --file",
                       QUOTED(w->top), BUNDLE_FILES_MAX - 1);
    if (bundle_name_check(name, strlen(name), e))
        return -1;
    if (asprintf(&pair.host, "%s/%s", w->top, name) < 0)
        return err_no_memory(e, "the files");
    pair.name = strdup(name);
    grown[o->n_files++] = pair;
    return pair.name ? 0 : err_no_memory(e, "the files");
}

static int walk_folder(struct walk *w, int parent_fd, const char *name, const char *path,
                       struct err *e);

static int take_entry(struct walk *w, int fd, const char *name, const char *path, struct err *e)
{
    struct stat st;
    char full[BUNDLE_NAME_MAX + BUNDLE_PART_MAX + 2];
    (void)snprintf(full, sizeof full, "%s%s%s", path, *path ? "/" : "", name);
    if (name[0] == '.' || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return matches(folders, name) ? 0 : walk_folder(w, fd, name, full, e);
    if (!S_ISREG(st.st_mode))
        return 0;
    if (matches(secrets, name)) {
        (void)fprintf(stderr, "belljar: '%s' is left out: it may be a key; --file gives it\n",
                      QUOTED(full));
        return 0;
    }
    if (w->see)
        w->see(w->arg, full);
    if (!*path)
        offer_entry(&w->entry, w->o->language, name);
    return add_file(w, full, e);
}

static int walk_folder(struct walk *w, int parent_fd, const char *name, const char *path,
                       struct err *e)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (*path ? O_NOFOLLOW : 0));
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d)
        return err_set(e, ERR_BAD_REQUEST, errno, "read directory '%s'",
                       QUOTED(*path ? path : name));
    if (++w->depth > DEPTH_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "directory '%s' has more than %d levels",
                       QUOTED(w->top), DEPTH_MAX);
    for (struct dirent *entry; (entry = readdir(d));)
        if (take_entry(w, fd, entry->d_name, path, e))
            return -1;
    w->depth--;
    return 0;
}

int project_copy(struct run_arguments *o, const char *directory,
                 void (*see)(void *arg, const char *name), void *arg, struct err *e)
{
    struct walk w = { .o = o, .top = directory, .see = see, .arg = arg };
    return walk_folder(&w, AT_FDCWD, directory, "", e);
}

/* The entry is the program, and no longer one of the files. */
static void take_out(struct run_arguments *o, const char *name)
{
    for (size_t i = 0; i < o->n_files; i++)
        if (strcmp(o->files[i].name, name) == 0) {
            o->file = o->project = o->files[i].host;
            free(o->files[i].name);
            o->files[i] = o->files[--o->n_files];
            return;
        }
}

int project_open(struct run_arguments *o, struct err *e)
{
    struct stat st;
    struct walk w = { .o = o, .top = o->file };
    if (o->code || strcmp(o->file, "-") == 0 || stat(o->file, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    if (walk_folder(&w, AT_FDCWD, o->file, "", e) || check_entry(&w.entry, o->file, e))
        return -1;
    take_out(o, w.entry.name);
    return 0;
}
