#include "api/artifacts/detect.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "normalise/payload.h"
#include "runtime/language.h"

enum { TITLE_MAX = 80 };

const char *artifact_type(const char *language)
{
    static const struct {
        const char *language, *type;
    } rows[] = {
        { "html", "html" },       { "htm", "html" },    { "svg", "svg" },
        { "mermaid", "mermaid" }, { "latex", "latex" }, { "tex", "latex" },
        { "react", "react" },     { "jsx", "react" },   { "tsx", "react" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcasecmp(rows[i].language, language) == 0)
            return rows[i].type;
    return "code";
}

struct line {
    const char *at;
    size_t n;
};

static void trim(struct line *l, const char *characters)
{
    while (l->n > 0 && strchr(characters, l->at[0]))
        l->at++, l->n--;
    while (l->n > 0 && strchr(characters, l->at[l->n - 1]))
        l->n--;
}

/* The text of "## A title ##"; false if it is not a heading. */
static bool heading(struct line *l)
{
    size_t marks = 0;
    while (marks < l->n && l->at[marks] == '#')
        marks++;
    if (marks == 0 || marks > 6 || marks == l->n || l->at[marks] != ' ')
        return false;
    trim(l, "# \t\r");
    return l->n > 0;
}

/* A line that introduces the block: "**Sorting**", "Here is the script:". */
static bool introduces(struct line *l)
{
    bool colon = l->n > 0 && l->at[l->n - 1] == ':';
    bool bold = l->n > 4 && memcmp(l->at, "**", 2) == 0;
    if (!colon && !bold)
        return false;
    trim(l, "*: \t\r`_");
    return l->n > 0;
}

/* ---- names in code ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Takes the word if the text begins with it, and the spaces after it. */
static bool take_word(struct line *l, const char *word)
{
    size_t n = strlen(word);
    if (l->n <= n || memcmp(l->at, word, n) != 0 || is_name(l->at[n]))
        return false;
    l->at += n;
    l->n -= n;
    trim(l, " \t\r");
    return true;
}

static bool take_any(struct line *l, const char *const *words)
{
    for (; *words; words++)
        if (take_word(l, *words))
            return true;
    return false;
}

/* The name at the start of the text. */
static bool take_name(struct line *l)
{
    size_t n = 0;
    while (n < l->n && is_name(l->at[n]))
        n++;
    l->n = n;
    return n > 0 && !isdigit((unsigned char)l->at[0]);
}

/* "const Counter = (props) => ...": a value that is a function. */
static bool is_function_value(const struct line *l)
{
    const char *equals = memchr(l->at, '=', l->n);
    if (!equals)
        return false;
    struct line value = { equals + 1, l->n - (size_t)(equals + 1 - l->at) };
    trim(&value, " \t\r");
    return memmem(value.at, value.n, "=>", 2) || take_word(&value, "function") ||
           take_word(&value, "async") || take_word(&value, "React");
}

/* The name of a function, class or component that the line defines. */
static bool defines(struct line *l)
{
    static const char *const before[] = { "export",   "default", "async",  "public", "private",
                                          "abstract", "static",  "final",  "pub",    "open",
                                          "internal", "sealed",  "unsafe", "data",   NULL };
    static const char *const kinds[] = { "def",  "class",     "function", "func",  "fn",
                                         "fun",  "sub",       "struct",   "trait", "enum",
                                         "type", "interface", "impl",     NULL };
    static const char *const values[] = { "const", "let", "var", NULL };
    trim(l, " \t\r");
    while (take_any(l, before))
        ;
    if (take_any(l, kinds)) {
        trim(l, "* \t");
        return take_name(l);
    }
    return take_any(l, values) && is_function_value(l) && take_name(l);
}

static bool find_definition(const struct buf *code, struct line *ret)
{
    const char *at = buf_str(code), *end = at + code->len;
    for (const char *newline; at < end; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        newline = newline ? newline : end;
        struct line l = { at, (size_t)(newline - at) };
        if (defines(&l)) {
            *ret = l;
            return true;
        }
    }
    return false;
}

/* JavaScript or TypeScript that uses React: it imports React, or a function returns an element. */
static bool is_react(const char *language, const struct buf *code)
{
    static const char *const scripts[] = { "js",         "javascript", "node", "ts",
                                           "typescript", "mjs",        "es6" };
    static const char *const signs[] = { "from 'react'",        "from \"react\"",
                                         "require('react')",    "require(\"react\")",
                                         "React.createElement", "React.Component" };
    bool script = false;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        script = script || strcasecmp(scripts[i], language) == 0;
    for (size_t i = 0; script && i < ARRAY_LEN(signs); i++)
        if (memmem(buf_str(code), code->len, signs[i], strlen(signs[i])))
            return true;
    const char *text = buf_str(code);
    for (const char *at = text; script && (at = strstr(at, "return")); at++) {
        const char *value = at + strlen("return");
        value += strspn(value, "( \t\r\n");
        if (value[0] == '<' && (isalpha((unsigned char)value[1]) || value[1] == '>'))
            return true;
    }
    return false;
}

/* ---- titles ---- */

/* The line right before the block, if it introduces the block; otherwise the last heading after the
 * previous block. */
static bool find_title(const char *text, size_t from, size_t to, struct line *ret)
{
    bool nearest = true;
    while (to > from) {
        const char *newline = memrchr(text + from, '\n', to - from - 1);
        size_t start = newline ? (size_t)(newline - text) + 1 : from;
        struct line l = { text + start, to - start };
        trim(&l, " \t\r\n");
        to = start;
        if (l.n == 0)
            continue;
        if (heading(&l) || (nearest && introduces(&l))) {
            *ret = l;
            return true;
        }
        nearest = false;
    }
    return false;
}

/* A long title is cut between characters. */
static json_t *title_text(struct line l)
{
    if (l.n > TITLE_MAX) {
        l.n = TITLE_MAX;
        while (l.n > 0 && ((unsigned char)l.at[l.n] & 0xC0) == 0x80)
            l.n--;
    }
    return json_stringn(l.at, l.n);
}

static json_t *default_title(const char *language, unsigned number)
{
    char text[FENCE_LANGUAGE_SIZE + 32];
    (void)snprintf(text, sizeof text, "%s snippet %u", language, number);
    text[0] = (char)toupper((unsigned char)text[0]);
    return json_string(text);
}

static json_t *one_artifact(const char *text, size_t from, const struct fence *f, unsigned number)
{
    scoped(buf) body = { 0 };
    struct err e;
    struct line title;
    if (fence_add_body(&body, text, f, &e))
        return NULL;
    const struct language *guess = language_guess("", buf_str(&body), body.len);
    if (!guess)
        guess = language_infer(buf_str(&body), body.len);
    const char *language = f->language[0] ? f->language : guess ? guess->name : "text";
    const char *type = is_react(language, &body) ? "react" : artifact_type(language);
    bool is_code = strcmp(type, "code") == 0 || strcmp(type, "react") == 0;
    bool titled = (is_code && find_definition(&body, &title)) ||
                  find_title(text, from, f->open, &title);
    json_t *name = titled ? title_text(title) : NULL;
    return json_pack("{s:o, s:s, s:o, s:s}", "content", json_stringn(buf_str(&body), body.len),
                     "language", language, "title", name ? name : default_title(language, number),
                     "artifact_type", type);
}

json_t *detect_artifacts(const char *text, size_t len)
{
    json_t *list = json_array();
    struct fence f = { 0 };
    size_t from = 0;
    for (unsigned n = 0; n < DETECT_MAX && fence_next(text, len, from, &f);) {
        if (f.end > f.body) {
            json_t *o = one_artifact(text, from, &f, ++n);
            if (!o || json_array_append_new(list, o)) {
                json_decref(list);
                return NULL;
            }
        }
        from = f.after;
    }
    return list;
}
