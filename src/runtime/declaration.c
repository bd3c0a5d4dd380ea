#include "runtime/declaration.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "base/strv.h"
#include "base/text.h"
#include "runtime/words.h"
#include "spec/bundle.h"

enum kind { KEY_TEXT, KEY_WORDS, KEY_FLAG };

/* ---- accepted values: each function returns NULL, or a description of an accepted value ---- */
static const char *accept_name(const char *word, size_t index)
{
    (void)index;
    size_t n = strlen(word);
    bool good = n > 0 && n < LANGUAGE_NAME_SIZE && islower((unsigned char)word[0]);
    for (size_t i = 0; good && i < n; i++)
        good = islower((unsigned char)word[i]) || isdigit((unsigned char)word[i]) ||
               strchr("+#-_.", word[i]);
    return good ? NULL : "up to 31 lower-case letters, digits and + # - _ . with a letter first";
}

static const char *accept_extension(const char *word, size_t index)
{
    (void)index;
    size_t n = strlen(word);
    bool good = n > 1 && n < LANGUAGE_NAME_SIZE && word[0] == '.';
    for (size_t i = 1; good && i < n; i++)
        good = isalnum((unsigned char)word[i]) || strchr("+#-_", word[i]);
    return good ? NULL : "a dot and up to 30 letters, digits and + # - _";
}

static const char *accept_file(const char *word, size_t index)
{
    struct err ignored;
    (void)index;
    return bundle_name_check(word, strlen(word), &ignored) == 0 && !strchr(word, '/')
               ? NULL
               : "the name of a file, without a directory";
}

/* A brace that opens no placeholder is an ordinary character. */
static bool placeholders_known(const char *word)
{
    static const char *const known[] = { FILE_ARGUMENT, "{guest}",      "{sources}", "{program}",
                                         "{format}",    "{memory_mib}", "{args}",    "{stem}" };
    for (const char *at = word; (at = strchr(at, '{')); at++) {
        size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        bool is_one = n > 0 && at[n + 1] == '}', found = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            found = found || strncmp(at, known[i], strlen(known[i])) == 0;
        if (is_one && !found)
            return false;
    }
    return true;
}

static const char *accept_command(const char *word, size_t index)
{
    if (!placeholders_known(word))
        return "{file} {stem} {guest} {sources} {args} {program} {format} or {memory_mib}";
    if (index == 0 && word[0] != '/' && strncmp(word, "{guest}/", 8) != 0 &&
        strstr(word, "{program}") == NULL)
        return "an absolute path, or one that begins with {guest}/ or contains {program}";
    return NULL;
}

/* The version is asked outside of jars: {program} does not exist there, and a bare name would be
 * searched in an arbitrary directory. */
static const char *accept_version(const char *word, size_t index)
{
    if (index == 0 && word[0] != '/' && strncmp(word, "{guest}/", 8) != 0)
        return "an absolute path, or one that begins with {guest}/";
    return accept_command(word, index);
}

static const char *accept_product(const char *word, size_t index)
{
    struct err ignored;
    (void)index;
    return strcmp(word, ".") == 0 || bundle_name_check(word, strlen(word), &ignored) == 0
               ? NULL
               : "a relative name inside /sandbox, or . for everything";
}

static const char *accept_variable(const char *word, size_t index)
{
    (void)index;
    const char *equals = strchr(word, '=');
    bool good = equals && equals > word && !isdigit((unsigned char)word[0]);
    for (const char *p = word; good && p < equals; p++)
        good = isalnum((unsigned char)*p) || *p == '_';
    return good ? NULL : "NAME=VALUE, with a name of letters, digits and _";
}

static const char *accept_any(const char *word, size_t index)
{
    (void)index;
    return word[0] ? NULL : "a value that is not empty";
}

static const char *accept_hint(const char *word, size_t index)
{
    (void)index;
    word += word[0] == '!' || word[0] == '-';
    word += strncmp(word, "^^", 2) == 0 ? 2 : word[0] && strchr("^~|<", word[0]);
    return word[0] ? NULL
                   : "a piece of a line, with ! in front if it is strong and ^ if lines "
                     "begin with it";
}

/* ---- the keys ---- */
static const struct key {
    const char *name;
    enum kind kind;
    bool required;
    size_t offset;
    const char *(*expected)(const char *word, size_t index);
    const char *help;
} keys[] = {
#define KEY(member, kind, required, expected, help)                                \
    {                                                                              \
#member, kind, required, offsetof(struct language, member), expected, help \
    }
    KEY(name, KEY_TEXT, true, accept_name, "its name"),
    KEY(aliases, KEY_WORDS, false, accept_name, "other names for it"),
    KEY(extensions, KEY_WORDS, true, accept_extension, "of its files, with the dot"),
    KEY(main_file, KEY_TEXT, true, accept_file, "the name of code that came without one"),
    KEY(command, KEY_WORDS, true, accept_command,
        "argv that runs {file}, or {program} if it is compiled"),
    KEY(compile, KEY_WORDS, false, accept_command, "argv of the compiler; {sources} are its files"),
    KEY(compile_env, KEY_WORDS, false, accept_variable, "NAME=VALUE for the compiler"),
    KEY(products, KEY_WORDS, false, accept_product,
        "files that the compiler makes; . means everything"),
    KEY(check, KEY_WORDS, false, accept_command, "argv of a type checker"),
    KEY(profile, KEY_WORDS, false, accept_command, "argv that runs {file} with a profiler"),
    KEY(display, KEY_WORDS, false, accept_command,
        "argv that runs {file} and writes its displays into the report"),
    KEY(session, KEY_WORDS, false, accept_command,
        "argv of a program that reads cells of a session from descriptor 3"),
    KEY(cell_name, KEY_TEXT, false, accept_any, "its name for the text of a cell; # is the number"),
    KEY(reports, KEY_FLAG, false, NULL, "yes: runs leave a report"),
    KEY(shell, KEY_FLAG, false, NULL, "yes: a list of allowed commands applies to it"),
    KEY(grammar, KEY_TEXT, false, accept_name,
        "the language whose error messages it has, if not its own"),
    KEY(env, KEY_WORDS, false, accept_variable, "NAME=VALUE for every run"),
    KEY(version, KEY_WORDS, true, accept_version, "argv that prints its version"),
    KEY(install, KEY_TEXT, true, accept_any, "the command that installs it"),
    KEY(seeded, KEY_FLAG, false, NULL,
        "yes: {guest}/NAME/prepare makes data that saves time later"),
    KEY(hints, KEY_WORDS, false, accept_hint, "pieces of lines by which it is recognised"),
    KEY(prompts, KEY_WORDS, false, accept_any, "prompts of sessions, each with its continuation"),
    KEY(session_names, KEY_WORDS, false, accept_name, "names of sessions in Markdown"),
    KEY(in_dicts, KEY_FLAG, false, NULL, "yes: bare dict literals hold code of it"),
#undef KEY
};
enum { KEYS = ARRAY_LEN(keys) };

static const char *const empty[] = { NULL };

static const char **text_at(struct language *l, const struct key *k)
{
    return (const char **)(void *)((char *)l + k->offset);
}

static const char *const **words_at(struct language *l, const struct key *k)
{
    return (const char *const **)(void *)((char *)l + k->offset);
}

static const char *text_of(const struct language *l, const struct key *k)
{
    return *(const char *const *)(const void *)((const char *)l + k->offset);
}

static const char *const *words_of(const struct language *l, const struct key *k)
{
    return *(const char *const *const *)(const void *)((const char *)l + k->offset);
}

static bool flag_of(const struct language *l, const struct key *k)
{
    return *(const bool *)(const void *)((const char *)l + k->offset);
}

void declaration_free(struct language *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].kind == KEY_TEXT)
            free((void *)*text_at(l, &keys[i]));
        else if (keys[i].kind == KEY_WORDS && *words_at(l, &keys[i]) != empty)
            strv_free((char **)*words_at(l, &keys[i]));
    }
    free(l);
}

/* ---- printing ---- */
int declaration_print(const struct language *l, struct buf *b, struct err *e)
{
    for (size_t i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        if (k->kind == KEY_FLAG && flag_of(l, k) && buf_addf(b, e, "%s = yes\n", k->name))
            return -1;
        if (k->kind == KEY_TEXT && text_of(l, k) &&
            buf_addf(b, e, "%s = %s\n", k->name, text_of(l, k)))
            return -1;
        if (k->kind != KEY_WORDS || !words_of(l, k) || !words_of(l, k)[0])
            continue;
        if (buf_addf(b, e, "%s =", k->name))
            return -1;
        for (const char *const *word = words_of(l, k); *word; word++)
            if (buf_add(b, " ", 1, e) || words_quote(*word, b, e))
                return -1;
        if (buf_add(b, "\n", 1, e))
            return -1;
    }
    return 0;
}

bool declaration_describe(size_t i, struct declaration_key *ret)
{
    static const char *const kinds[] = {
        [KEY_TEXT] = "text", [KEY_WORDS] = "words", [KEY_FLAG] = "yes/no"
    };
    if (i >= KEYS)
        return false;
    *ret = (struct declaration_key){ keys[i].name, kinds[keys[i].kind], keys[i].help,
                                     keys[i].required };
    return true;
}

static bool same_words(const char *const *a, const char *const *b)
{
    a = a ? a : empty;
    b = b ? b : empty;
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return !*a && !*b;
}

bool declaration_equal(const struct language *a, const struct language *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        const char *x = k->kind == KEY_TEXT ? text_of(a, k) : NULL;
        const char *y = k->kind == KEY_TEXT ? text_of(b, k) : NULL;
        if (k->kind == KEY_FLAG    ? flag_of(a, k) != flag_of(b, k)
            : k->kind == KEY_WORDS ? !same_words(words_of(a, k), words_of(b, k))
                                   : !x != !y || (x && strcmp(x, y) != 0))
            return false;
    }
    return true;
}

/* ---- parsing ---- */
struct parse {
    const char *file;
    unsigned line;
    bool seen[KEYS];
    struct language *l;
};

static int refuse_key(const struct parse *p, const char *name, struct err *e)
{
    struct nearest near = { .wanted = name };
    for (size_t i = 0; i < KEYS; i++)
        nearest_offer(&near, keys[i].name);
    if (near.name[0])
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s line %u: there is no key '%s': did you mean '%s'?", p->file, p->line,
                       QUOTED(name), near.name);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "%s line %u: there is no key '%s': 'belljar languages --help' lists them",
                   p->file, p->line, QUOTED(name));
}

static int refuse_value(const struct parse *p, const struct key *k, const char *value,
                        const char *accepted, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "%s line %u: %s '%s' is not accepted: expected %s",
                   p->file, p->line, k->name, QUOTED(value), accepted);
}

static int take_words(struct parse *p, const struct key *k, const char *value, struct err *e)
{
    char **words = NULL;
    const char *expected = NULL;
    if (words_split(value, DECLARATION_MAX_WORDS, &words, &expected, e))
        return expected ? refuse_value(p, k, value, expected, e) : -1;
    *words_at(p->l, k) = (const char *const *)words;
    if (!words[0])
        return refuse_value(p, k, value, "one word or more", e);
    for (size_t i = 0; words[i]; i++) {
        const char *accepted = k->expected(words[i], i);
        if (accepted)
            return refuse_value(p, k, words[i], accepted, e);
    }
    return 0;
}

static int take_value(struct parse *p, const struct key *k, const char *value, struct err *e)
{
    if (k->kind == KEY_WORDS)
        return take_words(p, k, value, e);
    if (k->kind == KEY_FLAG) {
        bool yes = strcmp(value, "yes") == 0;
        if (!yes && strcmp(value, "no") != 0)
            return refuse_value(p, k, value, "yes or no", e);
        *(bool *)(void *)((char *)p->l + k->offset) = yes;
        return 0;
    }
    const char *accepted = k->expected(value, 0);
    if (accepted)
        return refuse_value(p, k, value, accepted, e);
    *text_at(p->l, k) = strdup(value);
    return *text_at(p->l, k) ? 0 : err_no_memory(e, "a declaration");
}

static int take_line(struct parse *p, char *line, struct err *e)
{
    char *name = text_trim(line);
    if (*name == '\0' || *name == '#')
        return 0;
    for (const char *c = name; *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7F)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "%s line %u contains a control character: remove it", p->file, p->line);
    char *equals = strchr(name, '=');
    if (!equals)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s line %u: '%s' is not 'key = value'", p->file,
                       p->line, QUOTED(name));
    *equals = '\0';
    name = text_trim(name);
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (p->seen[i])
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "%s line %u: '%s' occurs a second time: remove one of the lines",
                           p->file, p->line, name);
        p->seen[i] = true;
        return take_value(p, &keys[i], text_trim(equals + 1), e);
    }
    return refuse_key(p, name, e);
}

/* Checks that need the whole declaration. */
static int check_whole(const struct parse *p, struct err *e)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].required && !p->seen[i])
            return err_set(e, ERR_BAD_REQUEST, 0, "%s: the key '%s' is missing: %s", p->file,
                           keys[i].name, keys[i].help);
    if (!p->l->compile != !p->l->products)
        return err_set(
            e, ERR_BAD_REQUEST, 0, "%s: '%s' without '%s': a compiled language needs both", p->file,
            p->l->compile ? "compile" : "products", p->l->compile ? "products" : "compile");
    if (strv_len((char *const *)p->l->prompts) % 2 != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s: 'prompts' has %zu words: pairs are accepted, the first prompt and the "
                       "one of further lines",
                       p->file, strv_len((char *const *)p->l->prompts));
    if (p->l->compile_env && !p->l->compile)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s: 'compile_env' without 'compile': it is only for compiled languages",
                       p->file);
    return 0;
}

static int parse_lines(struct parse *p, const char *text, size_t len, struct err *e)
{
    if (len > DECLARATION_MAX_BYTES)
        return err_set(e, ERR_TOO_LARGE, 0, "%s is too large: up to %d bytes are accepted", p->file,
                       DECLARATION_MAX_BYTES);
    if (memchr(text, '\0', len) || !text_is_utf8(text, len))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s is not UTF-8 text: save it as UTF-8", p->file);
    for (size_t at = 0; at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t n = newline ? (size_t)(newline - text) - at : len - at;
        autofree char *line = strndup(text + at, n);
        if (!line)
            return err_no_memory(e, "a declaration");
        p->line++;
        if (take_line(p, line, e))
            return -1;
        at += n + 1;
    }
    return check_whole(p, e);
}

int declaration_parse(const char *file, const char *text, size_t len, struct language **ret,
                      struct err *e)
{
    struct parse p = { .file = file, .l = calloc(1, sizeof *p.l) };
    if (!p.l)
        return err_no_memory(e, "a declaration");
    if (parse_lines(&p, text, len, e)) {
        declaration_free(p.l);
        return -1;
    }
    /* These lists are never NULL: readers walk them without a test. */
    const char *const **always[] = { &p.l->aliases, &p.l->env, &p.l->hints };
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (!*always[i])
            *always[i] = empty;
    *ret = p.l;
    return 0;
}
