/* The output of `node --test --test-reporter=tap`: the Test Anything Protocol, version 13, with nested
 * tests and a YAML block for each. */
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

enum { DEPTH_MAX = 12, INDENT = 4 };

struct tap {
    struct suite_report *report;
    struct part titles[DEPTH_MAX]; /* of the tests that are open, the outermost first */
    unsigned inner[DEPTH_MAX];     /* tests inside them so far */
    unsigned bad[DEPTH_MAX];       /* of these, failed ones */
    int last;                      /* the case of the last line with a test; -1: none */
    bool yaml;                     /* inside its block */
    size_t margin;                 /* of the block */
    struct part error, type, stack;
    struct part *text;    /* the value whose lines follow; NULL: none */
    struct part comments; /* the output before the next test */
};

static size_t indent_of(struct part line)
{
    size_t n = 0;
    while (n < line.n && line.at[n] == ' ')
        n++;
    return n;
}

/* 'text', "text" or text. */
static struct part unquoted(struct part p)
{
    p = part_trim(p);
    if (p.n >= 2 && (*p.at == '\'' || *p.at == '"') && p.at[p.n - 1] == *p.at)
        return part_before(part_after(p, 1), p.n - 2);
    return p;
}

/* ---- the YAML block ---- */

static bool is_stack_of_runner(struct part line)
{
    return part_find(line, "(node:") < line.n || part_find(line, " node:") < line.n;
}

/* The form in which Node prints an error that nobody caught. */
static int make_details(const struct tap *t, struct buf *out, struct err *e)
{
    struct lines lines = lines_of(t->stack);
    struct part line, type = unquoted(t->type);
    if (buf_addf(out, e, "%.*s: ", type.n ? (int)type.n : 5, type.n ? type.at : "Error"))
        return -1;
    struct lines words = lines_of(t->error);
    while (lines_next(&words, &line)) {
        line = part_trim(line);
        if (line.n > 0 && (buf_add(out, line.at, line.n, e) || buf_add(out, "\n", 1, e)))
            return -1;
    }
    while (lines_next(&lines, &line)) {
        line = part_trim(line);
        if (line.n > 0 && !is_stack_of_runner(line) &&
            (buf_add(out, "    at ", 7, e) || buf_add(out, line.at, line.n, e) ||
             buf_add(out, "\n", 1, e)))
            return -1;
    }
    return 0;
}

/* A file that ended with an error: its output, without the marks of comments. */
static int uncomment(const struct tap *t, struct buf *out, struct err *e)
{
    struct lines lines = lines_of(t->comments);
    struct part line;
    while (lines_next(&lines, &line))
        if (part_begins(line, "#") && !part_begins(line, "# Subtest: ") &&
            (buf_add(out, part_after(line, 2).at, part_after(line, 2).n, e) ||
             buf_add(out, "\n", 1, e)))
            return -1;
    return 0;
}

static void end_block(struct tap *t)
{
    scoped(buf) details = { 0 };
    struct err e;
    struct suite_case *c = t->last >= 0 ? &t->report->cases[t->last] : NULL;
    if (c && c->outcome == SUITE_FAILED) {
        bool crashed = t->stack.n == 0 && t->comments.n > 0;
        if (crashed ? uncomment(t, &details, &e) : make_details(t, &details, &e))
            t->report->failed = true;
        else
            case_details(t->report, c, (struct part){ buf_str(&details), details.len });
        struct part message = part_trim(t->error);
        case_message(t->report, c, part_before(message, part_find(message, "\n")));
    }
    t->comments = (struct part){ NULL, 0 };
    t->yaml = false;
    t->last = -1;
}

static void begin_block(struct tap *t, size_t margin)
{
    t->yaml = true;
    t->margin = margin;
    t->error = t->type = t->stack = (struct part){ NULL, 0 };
    t->text = NULL;
}

static void take_key(struct tap *t, struct part line)
{
    size_t colon = part_find(line, ": ");
    struct part value = part_trim(part_after(line, colon + 1)), file;
    struct suite_case *c = t->last >= 0 ? &t->report->cases[t->last] : NULL;
    uint32_t number;
    struct part *into = part_begins(line, "error: ")   ? &t->error
                        : part_begins(line, "name: ")  ? &t->type
                        : part_begins(line, "stack: ") ? &t->stack
                                                       : NULL;
    t->text = NULL;
    if (c && part_begins(line, "duration_ms: "))
        c->duration_ms = part_seconds(value);
    if (c && part_begins(line, "location: ") && c->outcome == SUITE_FAILED &&
        part_place(unquoted(value), &file, &number))
        case_place(t->report, c, file, number);
    if (!into)
        return;
    if (part_begins(value, "|"))
        t->text = into;
    else
        *into = unquoted(value);
}

static void take_yaml(struct tap *t, struct part line)
{
    size_t indent = indent_of(line);
    struct part rest = part_after(line, t->margin);
    if (indent == t->margin && part_is(rest, "..."))
        end_block(t);
    else if (indent == t->margin)
        take_key(t, rest);
    else if (t->text) {
        if (!t->text->at)
            t->text->at = line.at;
        t->text->n = (size_t)(line.at + line.n - t->text->at);
    }
}

/* ---- tests ---- */

static struct part short_title(struct part title)
{
    static const char sandbox[] = "/sandbox/";
    return part_begins(title, sandbox) ? part_after(title, sizeof sandbox - 1) : title;
}

/* "outer > inner" */
static struct part full_name(const struct tap *t, size_t depth, struct part name, char *out,
                             size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i <= depth; i++) {
        struct part p = short_title(i == depth ? name : t->titles[i]);
        const char *joint = i == depth ? "" : " > ";
        int n = snprintf(out + used, size - used, "%.*s%s",
                         (int)(p.n < SUITE_NAME_MAX ? p.n : SUITE_NAME_MAX), p.n ? p.at : "",
                         p.n ? joint : "");
        used = n < 0 || used + (size_t)n >= size ? size - 1 : used + (size_t)n;
    }
    return (struct part){ out, used };
}

/* "name # SKIP why" */
static enum suite_outcome read_directive(struct part *name, struct part *why, bool good)
{
    static const char *const words[] = { " # SKIP", " # TO"
                                                    "DO" };
    enum suite_outcome outcome = good ? SUITE_PASSED : SUITE_FAILED;
    *why = (struct part){ NULL, 0 };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t at = part_find(*name, words[i]);
        if (at == name->n)
            continue;
        *why = part_trim(part_after(*name, at + strlen(words[i])));
        *name = part_before(*name, at);
        outcome = SUITE_SKIPPED;
    }
    return outcome;
}

static void take_point(struct tap *t, size_t depth, struct part line, bool good)
{
    char buffer[DEPTH_MAX * 40 + 2 * SUITE_NAME_MAX];
    size_t dash = part_find(line, " - ");
    struct part name = part_after(line, dash + 3), why;
    enum suite_outcome outcome = read_directive(&name, &why, good);
    /* A group that failed only because of a test in it is no test. */
    bool group = t->inner[depth] > 0 && (outcome != SUITE_FAILED || t->bad[depth] > 0);
    t->inner[depth] = t->bad[depth] = 0;
    t->last = -1;
    if (depth > 0) {
        t->inner[depth - 1]++;
        t->bad[depth - 1] += outcome == SUITE_FAILED;
    }
    if (group)
        return;
    struct suite_case *c = case_add(t->report, full_name(t, depth, name, buffer, sizeof buffer),
                                    outcome);
    t->last = c ? (int)(c - t->report->cases) : -1;
    if (c && why.n > 0)
        case_message(t->report, c, why);
}

static void take_tap_line(struct tap *t, struct part line)
{
    size_t indent = indent_of(line), depth = indent / INDENT;
    struct part rest = part_after(line, indent);
    bool bad = part_begins(rest, "not ok ");
    if (depth >= DEPTH_MAX)
        return;
    if (part_begins(rest, "---") && indent >= 2) {
        begin_block(t, indent);
    } else if (part_begins(rest, "# Subtest: ")) {
        t->titles[depth] = part_after(rest, strlen("# Subtest: "));
    } else if (bad || part_begins(rest, "ok ")) {
        take_point(t, depth, part_after(rest, bad ? 7 : 3), !bad);
    } else if (indent == 0 && part_begins(rest, "#")) {
        if (!t->comments.at)
            t->comments.at = line.at;
        t->comments.n = (size_t)(line.at + line.n - t->comments.at);
    }
}

void read_tap(struct suite_report *r, const char *text, size_t n)
{
    struct tap t = { .report = r, .last = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed)
        if (t.yaml)
            take_yaml(&t, line);
        else
            take_tap_line(&t, line);
}
