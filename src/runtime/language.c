#include "runtime/language.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "base/text.h"
#include "runtime/built_in.h"
#include "runtime/dropins.h"
#include "runtime/public_type.h"

/* BUILT_IN_TABLE lists the languages of meson.build. */
#define X(name) extern const struct language language_##name;
BUILT_IN_TABLE(X)
#undef X

static const struct language *const built_in[] = {
#define X(name) &language_##name,
    BUILT_IN_TABLE(X)
#undef X
        NULL,
};
enum { BUILT_IN = ARRAY_LEN(built_in) - 1 };
static_assert((int)BUILT_IN <= (int)LANGUAGES_MAX,
              "the tables parallel to languages[] are large enough");

static const char *const no_problems[] = { NULL };
const struct language *const *languages = built_in;
const char *const *language_problems = no_problems;

static int in_list(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcasecmp(*list, word) == 0)
            return 1;
    return 0;
}

const struct language *language_find(const char *name)
{
    for (const struct language *const *l = languages; *l; l++)
        if (strcasecmp((*l)->name, name) == 0 || in_list((*l)->aliases, name))
            return *l;
    return NULL;
}

/* The base name of the interpreter in "#!/usr/bin/env python3" or "#!/usr/bin/python3.11". False:
 * the line names none. */
static bool interpreter(const char *code, size_t len, char *out, size_t size)
{
    char line[128];
    const char *end = memchr(code, '\n', len);
    size_t n = end ? (size_t)(end - code) : len;
    if (n < 3 || n >= sizeof line || memcmp(code, "#!", 2) != 0)
        return false;
    (void)snprintf(line, sizeof line, "%.*s", (int)(n - 2), code + 2);
    char *save = NULL, *first = strtok_r(line, " \t\r", &save);
    const char *base = first ? strrchr(first, '/') : NULL;
    base = base ? base + 1 : first;
    if (base && strcmp(base, "env") == 0)
        do
            base = strtok_r(NULL, " \t\r", &save);
        while (base && base[0] == '-');
    if (!base)
        return false;
    (void)snprintf(out, size, "%s", base);
    return true;
}

const struct language *language_by_first_line(const char *code, size_t len)
{
    char word[128];
    if (!interpreter(code, len, word, sizeof word))
        return NULL;
    const struct language *l = language_find(word);
    if (!l) { /* python3.11, python3 */
        word[strcspn(word, "0123456789.")] = '\0';
        l = language_find(word);
    }
    return l;
}

const struct language *language_by_name(const char *file_name)
{
    const char *dot = strrchr(file_name, '.');
    for (const struct language *const *l = languages; dot && *l; l++)
        if (in_list((*l)->extensions, dot))
            return *l;
    return NULL;
}

bool language_has(const struct language *l, const char *file_name, size_t len)
{
    for (const char *const *x = l->extensions; *x; x++) {
        size_t n = strlen(*x);
        if (len > n && memcmp(file_name + len - n, *x, n) == 0)
            return true;
    }
    return false;
}

const struct language *language_guess(const char *file_name, const char *code, size_t len)
{
    char word[128];
    const struct language *by_line = language_by_first_line(code, len),
                          *by_name = language_by_name(file_name);
    /* "#!/usr/bin/env node" in main.ts: the interpreter runs both languages, so the name
     * decides. */
    const char *slash = by_name ? strrchr(by_name->command[0], '/') : NULL;
    if (by_line && slash && interpreter(code, len, word, sizeof word) &&
        strcmp(slash + 1, word) == 0)
        return by_name;
    return by_line ? by_line : by_name;
}

/* ---- the name of code that came without one ---- */

const char *language_main_name(const struct language *l, const char *code, size_t len,
                               char out[MAIN_NAME_SIZE])
{
    const char *name;
    size_t n = l->public_types ? public_type_find(l->public_types, code, len, &name) : 0;
    if (n > 0 && n < 120)
        (void)snprintf(out, MAIN_NAME_SIZE, "%.*s%s", (int)n, name, l->extensions[0]);
    else
        (void)snprintf(out, MAIN_NAME_SIZE, "%s", l->main_file);
    return out;
}

/* The name of a file after its public type, in the same directory; "": it needs no other name. */
static const char *type_name(const struct language *l, const struct bundle_entry *f,
                             char out[BUNDLE_NAME_MAX + 1])
{
    const char *type;
    const char *slash = memrchr(f->name, '/', f->head.name_len);
    size_t dir = slash ? (size_t)(slash + 1 - f->name) : 0;
    size_t n = bundle_is_directory(f) || !language_has(l, f->name, f->head.name_len)
                   ? 0
                   : public_type_find(l->public_types, f->bytes, (size_t)f->head.size, &type);
    out[0] = '\0';
    if (n == 0 || dir + n + strlen(l->extensions[0]) > BUNDLE_NAME_MAX)
        return out;
    (void)snprintf(out, BUNDLE_NAME_MAX + 1, "%.*s%.*s%s", (int)dir, f->name, (int)n, type,
                   l->extensions[0]);
    if (bundle_is_named(f, out))
        out[0] = '\0';
    return out;
}

static bool is_taken(const struct buf *bundle, const char *name)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    size_t n = strlen(name);
    for (size_t pos = 0; bundle_next(bundle, &pos, &f, &more, &e) == 0 && more;)
        if (f.head.name_len >= n && memcmp(f.name, name, n) == 0 &&
            (f.head.name_len == n || f.name[n] == '/'))
            return true;
    return false;
}

/* Each name is compared with all others, so there is a bound. */
enum { NAMED_FILES_MAX = 256 };

static bool has_many_files(const struct buf *bundle)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    size_t n = 0;
    for (size_t pos = 0;
         n <= NAMED_FILES_MAX && bundle_next(bundle, &pos, &f, &more, &e) == 0 && more;)
        n++;
    return n > NAMED_FILES_MAX;
}

int language_name_files(const struct language *l, struct buf *bundle,
                        char main_name[BUNDLE_NAME_MAX + 1], struct err *e)
{
    scoped(buf) named = { 0 };
    struct bundle_entry f;
    bool more = true, any = false;
    size_t pos = 0;
    if (!l->public_types || has_many_files(bundle))
        return 0;
    while (bundle_next(bundle, &pos, &f, &more, e) == 0 && more) {
        char own[BUNDLE_NAME_MAX + 1], other[BUNDLE_NAME_MAX + 1];
        (void)snprintf(own, sizeof own, "%.*s", (int)f.head.name_len, f.name);
        const char *name = type_name(l, &f, other);
        /* Of two files with the same public type, the compiler complains. */
        bool moves = name[0] && !is_taken(bundle, name) && !is_taken(&named, name);
        if (moves && strcmp(own, main_name) == 0)
            (void)snprintf(main_name, BUNDLE_NAME_MAX + 1, "%s", name);
        any = any || moves;
        if (bundle_add(&named, moves ? name : own, f.head.mode, f.bytes, (size_t)f.head.size, e))
            return -1;
    }
    if (!any)
        return 0;
    buf_done(bundle);
    *bundle = named;
    named = (struct buf){ 0 };
    return 0;
}

/* ---- languages that are files ---- */

/* The languages of the last language_load(). languages and language_problems point into it. */
static struct loaded {
    struct dropins dropins;
    const struct language *all[LANGUAGES_MAX + 1];
    const char *problems[DROPINS_FILES_MAX + 1];
} * loaded;

/* The name of the language that already has the word, or NULL. */
static const char *taken_by(const struct loaded *a, const char *word, bool extension)
{
    for (const struct language *const *l = a->all; *l; l++)
        if (extension ? in_list((*l)->extensions, word)
                      : strcasecmp((*l)->name, word) == 0 || in_list((*l)->aliases, word))
            return (*l)->name;
    return NULL;
}

/* Names and extensions are unique, so that each means one language. */
static int check_free(const struct loaded *a, const struct language *l, struct err *e)
{
    const char *owner = taken_by(a, l->name, false);
    if (owner)
        return err_set(e, ERR_CONFLICT, 0,
                       "%s.lang: a language '%s' already exists: choose another name", l->name,
                       owner);
    for (const char *const *word = l->aliases; *word; word++)
        if ((owner = taken_by(a, *word, false)))
            return err_set(e, ERR_CONFLICT, 0,
                           "language '%s': the alias '%s' already belongs to %s", l->name, *word,
                           owner);
    for (const char *const *word = l->extensions; *word; word++)
        if ((owner = taken_by(a, *word, true)))
            return err_set(e, ERR_CONFLICT, 0,
                           "language '%s': the extension '%s' already belongs to %s", l->name,
                           *word, owner);
    return 0;
}

static void add_loaded(struct loaded *a)
{
    size_t n = BUILT_IN;
    memcpy((void *)a->all, (const void *)built_in, sizeof built_in);
    for (size_t i = 0; i < a->dropins.n; i++) {
        struct err why = { 0 };
        if (n >= LANGUAGES_MAX)
            (void)!err_set(&why, ERR_TOO_LARGE, 0,
                           "language '%s' is one too many: up to %d are accepted",
                           a->dropins.languages[i]->name, LANGUAGES_MAX);
        if (why.code != ERR_NONE || check_free(a, a->dropins.languages[i], &why))
            dropins_problem(&a->dropins, &why);
        else
            a->all[n++] = a->dropins.languages[i];
    }
    for (size_t i = 0; i < a->dropins.n_problems; i++)
        a->problems[i] = a->dropins.problems[i];
}

int language_load(const char *dir, struct err *e)
{
    struct err missing = { 0 };
    struct loaded *a = calloc(1, sizeof *a);
    if (!a)
        return err_no_memory(e, "the languages");
    if (dropins_read(dir ? dir : DROPINS_DIR, &a->dropins, dir ? e : &missing) &&
        (dir || missing.code != ERR_NOT_FOUND)) {
        if (!dir)
            *e = missing;
        dropins_done(&a->dropins);
        free(a);
        return -1;
    }
    add_loaded(a);
    struct loaded *before = loaded;
    loaded = a;
    languages = a->all;
    language_problems = a->problems;
    if (before) {
        dropins_done(&before->dropins);
        free(before);
    }
    return 0;
}

const char *language_grammar(const struct language *l)
{
    return l && l->grammar ? l->grammar : l ? l->name : NULL;
}

static bool wants_types(const struct run_options *w)
{
    return w->check_types;
}
static bool wants_arguments(const struct run_options *w)
{
    return w->compiler_args && w->compiler_args[0];
}
static bool wants_format(const struct run_options *w)
{
    return w->format != TABLE_ALIGNED;
}
static bool wants_display(const struct run_options *w)
{
    return w->display;
}
static bool has_display(const struct language *l)
{
    return l->display;
}
static bool has_check(const struct language *l)
{
    return l->check;
}
static bool has_compiler(const struct language *l)
{
    return l->compile;
}
static bool has_tables(const struct language *l)
{
    return l->reports;
}

static bool has_session(const struct language *l)
{
    return l->session;
}
static bool is_any(const struct language *l)
{
    (void)l;
    return true;
}

static const char *list_where(bool (*holds)(const struct language *l), char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct language *const *l = languages; *l && used < size; l++)
        if (holds(*l))
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", (*l)->name);
    return out;
}

static const struct {
    const char *field;
    bool (*wanted)(const struct run_options *w);
    bool (*possible)(const struct language *l);
} option_rows[] = {
    { "check_types", wants_types, has_check },
    { "compiler_args", wants_arguments, has_compiler },
    { "format", wants_format, has_tables },
    { "display", wants_display, has_display },
};

int language_takes(const struct language *l, const struct run_options *w, const char **ret_field,
                   struct err *e)
{
    if (w->display && w->profile) {
        *ret_field = "display";
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "display and profile cannot be combined: a profiler has no displays; leave "
                       "one of them out");
    }
    for (size_t i = 0; i < ARRAY_LEN(option_rows); i++) {
        char known[200];
        if (!option_rows[i].wanted(w) || option_rows[i].possible(l))
            continue;
        *ret_field = option_rows[i].field;
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s is only for %s, and the language is '%s': leave it out",
                       option_rows[i].field,
                       list_where(option_rows[i].possible, known, sizeof known), l->name);
    }
    return 0;
}

int language_refuse(const char *name, struct err *e)
{
    struct nearest near = { .wanted = name };
    char known[200];
    for (const struct language *const *l = languages; *l; l++)
        nearest_offer(&near, (*l)->name);
    return err_set(e, ERR_BAD_REQUEST, 0, "Language '%s' is not supported: %s%s%s of %s",
                   QUOTED(name), near.name[0] ? "did you mean '" : "", near.name,
                   near.name[0] ? "'? Use one" : "use one", language_list(known, sizeof known));
}

const char *language_list(char *out, size_t size)
{
    return list_where(is_any, out, size);
}

const char *language_session_list(char *out, size_t size)
{
    return list_where(has_session, out, size);
}
