/* The output of `vitest run --reporter=tap-flat`: one line for each test, and a block for a failure. */
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

struct vitest {
    struct suite_report *report;
    int open;   /* the case of the block; -1: none */
    bool block; /* inside a block */
    struct part type, message, at;
    bool more; /* lines of the message follow */
};

/* "text" with its quotes; the end may be on a later line. */
static struct part inside(struct part value)
{
    value = part_after(value, 1);
    return part_ends(value, "\"") ? part_before(value, value.n - 1) : value;
}

/* The form in which Node prints an error that nobody caught. */
static void close_block(struct vitest *v)
{
    scoped(buf) details = { 0 };
    struct err e;
    struct suite_case *c = v->open >= 0 ? &v->report->cases[v->open] : NULL;
    struct part file, first = part_before(v->message, part_find(v->message, "\n"));
    uint32_t line;
    v->open = -1;
    v->block = v->more = false;
    if (!c || v->message.n == 0)
        return;
    case_message(v->report, c, part_ends(first, "\"") ? part_before(first, first.n - 1) : first);
    if (part_place(v->at, &file, &line))
        case_place(v->report, c, file, line);
    if (buf_addf(&details, &e, "%.*s: %.*s\n", v->type.n ? (int)v->type.n : 5,
                 v->type.n ? v->type.at : "Error", (int)v->message.n, v->message.at) ||
        (v->at.n > 0 && buf_addf(&details, &e, "    at %.*s\n", (int)v->at.n, v->at.at)))
        v->report->failed = true;
    else
        case_details(v->report, c, (struct part){ buf_str(&details), details.len });
}

static void take_block_line(struct vitest *v, struct part line)
{
    struct part p = part_trim(line);
    if (part_is(line, "    ...")) {
        close_block(v);
    } else if (part_begins(line, "        name: \"") && v->type.n == 0) {
        v->type = inside(part_after(p, strlen("name: ")));
    } else if (part_begins(line, "        message: \"") && v->message.n == 0) {
        struct part value = part_after(p, strlen("message: "));
        v->more = !(value.n > 1 && part_ends(value, "\""));
        v->message = inside(value);
    } else if (part_begins(line, "    at: \"") && v->at.n == 0) {
        v->more = false;
        v->at = inside(part_after(p, strlen("at: ")));
    } else if (v->more) {
        bool last = part_ends(line, "\"");
        v->message.n = (size_t)(line.at + line.n - v->message.at) - last;
        v->more = !last;
    }
}

/* "1 - a.test.js > calc > adds # time=1.09ms", "... # SKIP" */
static void take_point(struct vitest *v, struct part line, bool good)
{
    static const char took[] = " # time=";
    size_t dash = part_find(line, " - ");
    struct part name = part_after(line, dash + 3);
    enum suite_outcome outcome = good ? SUITE_PASSED : SUITE_FAILED;
    double ms = -1;
    size_t at = part_find(name, took);
    if (dash == line.n)
        return;
    if (at < name.n && part_ends(name, "ms")) {
        ms = part_seconds(part_after(name, at + sizeof took - 1));
        name = part_before(name, at);
    }
    static const char *const words[] = { " # SKIP", " # TO"
                                                    "DO" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((at = part_find(name, words[i])) < name.n) {
            outcome = SUITE_SKIPPED;
            name = part_before(name, at);
        }
    if (outcome == SUITE_FAILED && part_find(name, " > ") == name.n)
        outcome = SUITE_ERROR; /* a file that cannot be loaded */
    struct suite_case *c = case_add(v->report, name, outcome);
    v->open = c && (outcome == SUITE_FAILED || outcome == SUITE_ERROR) ? (int)(c - v->report->cases)
                                                                       : -1;
    if (c)
        c->duration_ms = ms;
}

void read_vitest(struct suite_report *r, const char *text, size_t n)
{
    struct vitest v = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed) {
        bool bad = part_begins(line, "not ok ");
        if (v.block) {
            take_block_line(&v, line);
        } else if (part_is(line, "    ---")) {
            v.block = true;
            v.type = v.message = v.at = (struct part){ NULL, 0 };
        } else if (bad || part_begins(line, "ok ")) {
            take_point(&v, part_after(line, bad ? strlen("not ok ") : strlen("ok ")), !bad);
        }
    }
    close_block(&v);
}
