/* The output of `go test -v`. */
#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

struct go {
    struct suite_report *report;
    int open;         /* the case that the lines belong to; -1: none */
    struct part text; /* these lines */
};

/* A test can be interrupted by another one, and go on: its lines are joined. */
static void flush(struct go *g)
{
    scoped(buf) joined = { 0 };
    struct err e;
    struct suite_case *c = g->open >= 0 ? &g->report->cases[g->open] : NULL;
    if (c && g->text.n > 0) {
        if ((c->details && buf_addf(&joined, &e, "%s\n", c->details)) ||
            buf_add(&joined, g->text.at, g->text.n, &e))
            g->report->failed = true;
        else
            case_details(g->report, c, (struct part){ buf_str(&joined), joined.len });
    }
    g->text = (struct part){ NULL, 0 };
    g->open = -1;
}

static void open_case(struct go *g, struct part name, enum suite_outcome outcome)
{
    struct suite_case *c = case_find(g->report, name);
    flush(g);
    if (!c)
        c = case_add(g->report, name, outcome);
    g->open = c ? (int)(c - g->report->cases) : -1;
}

/* "=== RUN   TestName"; a test without a line about its end has not got there. */
static bool take_start(struct go *g, struct part line)
{
    static const char *const words[] = { "=== RUN ", "=== CONT ", "=== NAME ", "=== PAUSE " };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (part_begins(line, words[i])) {
            struct part name = part_trim(part_after(line, strlen(words[i])));
            flush(g);
            if (name.n > 0)
                open_case(g, name, SUITE_ERROR);
            return true;
        }
    return false;
}

/* "    --- FAIL: TestName/sub (0.01s)" */
static bool take_end(struct go *g, struct part line)
{
    static const struct {
        const char *word;
        enum suite_outcome outcome;
    } words[] = { { "--- PASS: ", SUITE_PASSED },
                  { "--- FAIL: ", SUITE_FAILED },
                  { "--- SKIP: ", SUITE_SKIPPED } };
    line = part_trim(line);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!part_begins(line, words[i].word))
            continue;
        struct part name = part_after(line, strlen(words[i].word));
        size_t time = part_find(name, " (");
        open_case(g, part_before(name, time), words[i].outcome);
        if (g->open < 0)
            return true;
        struct suite_case *c = &g->report->cases[g->open];
        double seconds = part_seconds(part_after(name, time + 2));
        c->outcome = words[i].outcome;
        c->duration_ms = seconds < 0 ? -1 : seconds * 1000;
        return true; /* a panic follows */
    }
    return false;
}

/* "# package [package.test]" before errors of the compiler; "FAIL\tpackage [build failed]" */
static bool take_package(struct go *g, struct part line)
{
    if (part_begins(line, "# ")) {
        struct part name = part_after(line, 2);
        open_case(g, part_before(name, part_find(name, " [")), SUITE_ERROR);
        return true;
    }
    bool failed = part_begins(line, "FAIL\t");
    if (!failed && !part_begins(line, "ok  \t") && !part_begins(line, "?   \t") &&
        !part_is(line, "FAIL") && !part_is(line, "PASS"))
        return false;
    flush(g);
    size_t built = part_find(line, " [build failed]"), set_up = part_find(line, " [setup failed]");
    if (failed && (built < line.n || set_up < line.n)) {
        open_case(g, part_after(part_before(line, built < set_up ? built : set_up), 5),
                  SUITE_ERROR);
        flush(g);
    }
    return true;
}

/* "    calc_test.go:15: message" */
static void place(struct suite_report *r, struct suite_case *c)
{
    struct lines lines = { c->details, c->details + strlen(c->details) };
    struct part line, file;
    uint32_t number;
    while (lines_next(&lines, &line)) {
        line = part_trim(line);
        size_t colon = part_find(line, ": ");
        if (colon < line.n && part_place(part_before(line, colon), &file, &number) &&
            part_ends(file, ".go") && part_find(file, " ") == file.n) {
            struct part message = part_after(line, colon + 2);
            case_place(r, c, file, number);
            case_message(r, c, message);
            return;
        }
    }
}

/* The lines of good tests explain nothing. A test with tests in it fails with them: it is no case,
 * unless it has lines of its own. */
static void finish(struct suite_report *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct suite_case *c = &r->cases[i];
        size_t len = strlen(c->name);
        bool group = i + 1 < r->n && strncmp(r->cases[i + 1].name, c->name, len) == 0 &&
                     r->cases[i + 1].name[len] == '/';
        if (c->outcome == SUITE_SKIPPED && c->details)
            place(r, c);
        if (c->outcome == SUITE_PASSED || c->outcome == SUITE_SKIPPED) {
            free(c->details);
            c->details = NULL;
        }
        if (c->details)
            place(r, c);
        if (group && !c->details) {
            free(c->name);
            free(c->message);
            free(c->file);
            continue;
        }
        r->cases[kept++] = *c;
    }
    r->n = kept;
}

void read_go(struct suite_report *r, const char *text, size_t n)
{
    struct go g = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed) {
        if (take_start(&g, line) || take_end(&g, line) || take_package(&g, line))
            continue;
        if (g.open >= 0) {
            if (!g.text.at)
                g.text.at = line.at;
            g.text.n = (size_t)(line.at + line.n - g.text.at);
        }
    }
    flush(&g);
    finish(r);
}
