#include "suite/report.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/text.h"

const char *const suite_outcomes[] = {
#define X(id, word) word,
    SUITE_OUTCOME_TABLE(X)
#undef X
        NULL,
};

/* ---- pieces ---- */

bool lines_next(struct lines *l, struct part *ret)
{
    if (l->at >= l->end)
        return false;
    const char *newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
    const char *stop = newline ? newline : l->end;
    *ret = (struct part){ l->at, (size_t)(stop - l->at) };
    if (ret->n > 0 && ret->at[ret->n - 1] == '\r')
        ret->n--;
    l->at = newline ? newline + 1 : l->end;
    return true;
}

struct lines lines_of(struct part p)
{
    return p.n > 0 ? (struct lines){ p.at, p.at + p.n } : (struct lines){ NULL, NULL };
}

bool part_is(struct part p, const char *word)
{
    return p.n == strlen(word) && memcmp(p.at, word, p.n) == 0;
}

bool part_begins(struct part p, const char *word)
{
    size_t n = strlen(word);
    return p.n >= n && memcmp(p.at, word, n) == 0;
}

bool part_ends(struct part p, const char *word)
{
    size_t n = strlen(word);
    return p.n >= n && memcmp(p.at + p.n - n, word, n) == 0;
}

struct part part_after(struct part p, size_t n)
{
    n = n < p.n ? n : p.n;
    return (struct part){ n > 0 ? p.at + n : p.at, p.n - n };
}

struct part part_before(struct part p, size_t n)
{
    return (struct part){ p.at, n < p.n ? n : p.n };
}

struct part part_trim(struct part p)
{
    while (p.n > 0 && isspace((unsigned char)*p.at))
        p = part_after(p, 1);
    while (p.n > 0 && isspace((unsigned char)p.at[p.n - 1]))
        p.n--;
    return p;
}

size_t part_find(struct part p, const char *word)
{
    const char *found = p.n > 0 ? memmem(p.at, p.n, word, strlen(word)) : NULL;
    return found ? (size_t)(found - p.at) : p.n;
}

double part_seconds(struct part p)
{
    double value = 0, digit = 1;
    size_t i = 0;
    bool fraction = false;
    for (; i < p.n && i < 18 && (isdigit((unsigned char)p.at[i]) || (p.at[i] == '.' && !fraction));
         i++) {
        if (p.at[i] == '.') {
            fraction = true;
            continue;
        }
        digit = fraction ? digit / 10 : 1;
        value = fraction ? value + digit * (p.at[i] - '0') : value * 10 + (p.at[i] - '0');
    }
    return i > 0 ? value : -1;
}

bool part_place(struct part p, struct part *ret_file, uint32_t *ret_line)
{
    enum { LINE_MAX_ = 10000000 };
    for (size_t i = 1; i + 1 < p.n; i++) {
        uint32_t line = 0;
        if (p.at[i] != ':' || !isdigit((unsigned char)p.at[i + 1]))
            continue;
        for (size_t k = i + 1; k < p.n && isdigit((unsigned char)p.at[k]) && line < LINE_MAX_; k++)
            line = line * 10 + (uint32_t)(p.at[k] - '0');
        *ret_file = part_before(p, i);
        *ret_line = line;
        return true;
    }
    return false;
}

/* ---- the report ---- */

void suite_report_done(struct suite_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->cases[i].name);
        free(r->cases[i].message);
        free(r->cases[i].details);
        free(r->cases[i].file);
    }
    free(r->cases);
    *r = (struct suite_report){ 0 };
}

/* A copy on the heap: valid UTF-8 without a NUL, of at most `max` bytes. */
static char *copy(struct suite_report *r, struct part p, size_t max)
{
    scoped(buf) b = { 0 };
    struct err e;
    if (p.n > max)
        p.n = text_whole(p.at, max);
    if (text_add_utf8(&b, p.at, p.n, &e)) {
        r->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] == '\0')
            b.data[i] = '?';
    char *text = strdup(buf_str(&b));
    r->failed = r->failed || !text;
    return text;
}

/* FNV-1a of the part of a name that is kept. */
static uint32_t hash_of(struct part name)
{
    uint32_t h = 2166136261U;
    for (size_t i = 0; i < name.n && i < SUITE_NAME_MAX; i++)
        h = (h ^ (unsigned char)name.at[i]) * 16777619U;
    return h;
}

struct suite_case *case_add(struct suite_report *r, struct part name, enum suite_outcome o)
{
    if (r->n == SUITE_CASES_MAX) {
        r->cut = true;
        return NULL;
    }
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct suite_case *grown = realloc(r->cases, room * sizeof *grown);
        if (!grown) {
            r->failed = true;
            return NULL;
        }
        r->cases = grown;
        r->room = room;
    }
    char *text = copy(r, name, SUITE_NAME_MAX);
    if (!text)
        return NULL;
    struct suite_case *c = &r->cases[r->n++];
    *c = (struct suite_case){
        .name = text, .outcome = o, .duration_ms = -1, .hash = hash_of(name)
    };
    return c;
}

struct suite_case *case_find(const struct suite_report *r, struct part name)
{
    uint32_t hash = hash_of(name);
    for (size_t i = r->n; i-- > 0;)
        if (r->cases[i].hash == hash)
            return &r->cases[i];
    return NULL;
}

void case_message(struct suite_report *r, struct suite_case *c, struct part text)
{
    free(c->message);
    c->message = text.n > 0 ? copy(r, text, SUITE_MESSAGE_MAX) : NULL;
}

void case_details(struct suite_report *r, struct suite_case *c, struct part text)
{
    free(c->details);
    /* The end has the error, after a long list of callers. */
    if (text.n > SUITE_DETAILS_MAX)
        text = part_after(text, text.n - SUITE_DETAILS_MAX);
    c->details = text.n > 0 ? copy(r, text, SUITE_DETAILS_MAX) : NULL;
}

void case_place(struct suite_report *r, struct suite_case *c, struct part file, uint32_t line)
{
    static const char sandbox[] = "/sandbox/";
    if (part_begins(file, sandbox))
        file = part_after(file, sizeof sandbox - 1);
    free(c->file);
    c->file = file.n > 0 && file.n < 256 ? copy(r, file, 256) : NULL;
    c->line = c->file ? line : 0;
}

void suite_read(const struct suite_runner *runner, const char *text, size_t n,
                struct suite_report *ret)
{
    enum { HALF = SUITE_TEXT_MAX / 2 };
    scoped(buf) both = { 0 };
    struct err e;
    *ret = (struct suite_report){ 0 };
    if (n > SUITE_TEXT_MAX) {
        ret->cut = true;
        if (buf_add(&both, text, HALF, &e) || buf_add(&both, "\n", 1, &e) ||
            buf_add(&both, text + n - HALF, HALF, &e)) {
            ret->failed = true;
            return;
        }
        text = both.data;
        n = both.len;
    }
    if (n > 0)
        runner->read(ret, text, n);
}
