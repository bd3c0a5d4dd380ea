/* The output of `jest --verbose`: for each file the tree of its tests, and then its failures. */
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

enum { DEPTH_MAX = 12, INDENT = 2 };
#define BULLET "  \xe2\x97\x8f " /* before a failure */
#define JOINT  " \xe2\x80\xba "  /* between the parts of a name */

struct jest {
    struct suite_report *report;
    struct part file;
    struct part titles[DEPTH_MAX];
    enum { OUTSIDE, TREE, FAILURES } part;
    int open;         /* the case of the failure that is read; -1: none */
    struct part text; /* its lines */
};

static size_t indent_of(struct part line)
{
    size_t n = 0;
    while (n < line.n && line.at[n] == ' ')
        n++;
    return n;
}

static void add_part(char *out, size_t size, const char *joint, struct part p)
{
    size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s%.*s", used ? joint : "",
                   (int)(p.n < SUITE_NAME_MAX ? p.n : SUITE_NAME_MAX), p.n ? p.at : "");
}

/* ---- failures ---- */

/* "    at first (calc.js:2:35)", without those of the runner. */
static bool is_frame(struct part p)
{
    return part_begins(p, "at ");
}

static bool is_of_packages(struct part p)
{
    return part_find(p, "node_modules") < p.n || part_find(p, "node:internal") < p.n ||
           part_find(p, "(node:") < p.n;
}

/* "> 4 | code", "  3 | code", "    |    ^" */
static bool is_excerpt(struct part p)
{
    size_t bar = part_find(p, "|");
    for (size_t i = 0; i < bar; i++)
        if (!strchr("> 0123456789", p.at[i]))
            return false;
    return bar < p.n;
}

/* "at first (calc.js:2:35)", "at calc.js:2:35" */
static bool place_of(struct part frame, struct part *ret_file, uint32_t *ret_line)
{
    size_t open = part_find(frame, "(");
    return part_place(part_after(frame, open < frame.n ? open + 1 : strlen("at ")), ret_file,
                      ret_line);
}

/* "TypeError: ..." */
static bool has_type(struct part message)
{
    size_t colon = part_find(message, ": ");
    return colon < message.n && part_find(message, " ") > colon &&
           part_ends(part_before(message, colon), "Error");
}

/* The form in which Node prints an error that nobody caught. */
static int make_details(struct jest *j, struct suite_case *c, struct part text, struct buf *out,
                        struct err *e)
{
    struct lines lines = lines_of(text);
    struct part line, file;
    uint32_t number;
    bool placed = false;
    while (lines_next(&lines, &line)) {
        struct part p = part_trim(line);
        if (p.n == 0 || is_excerpt(p) || (is_frame(p) && is_of_packages(p)))
            continue;
        if (out->len == 0) {
            case_message(j->report, c, p);
            if (!has_type(p) && buf_addf(out, e, "Error: "))
                return -1;
        }
        if (is_frame(p) && !placed && place_of(p, &file, &number)) {
            case_place(j->report, c, file, number);
            placed = true;
        }
        if ((is_frame(p) && buf_addf(out, e, "    ")) || buf_add(out, p.at, p.n, e) ||
            buf_add(out, "\n", 1, e))
            return -1;
    }
    return 0;
}

static void close_failure(struct jest *j)
{
    scoped(buf) details = { 0 };
    struct err e;
    struct suite_case *c = j->open >= 0 ? &j->report->cases[j->open] : NULL;
    if (c && j->text.n > 0) {
        if (make_details(j, c, j->text, &details, &e))
            j->report->failed = true;
        else
            case_details(j->report, c, (struct part){ buf_str(&details), details.len });
    }
    j->open = -1;
    j->text = (struct part){ NULL, 0 };
}

/* The test of "  ● calc › wrong"; a file that cannot be loaded is a case of its own. */
static void open_failure(struct jest *j, struct part line)
{
    char name[2 * SUITE_NAME_MAX] = "";
    struct part title = part_trim(part_after(line, sizeof BULLET - 1));
    struct suite_case *c;
    close_failure(j);
    j->part = FAILURES;
    if (part_is(title, "Test suite failed to run")) {
        c = case_add(j->report, j->file, SUITE_ERROR);
    } else {
        add_part(name, sizeof name, "", j->file);
        add_part(name, sizeof name, " > ", title);
        c = case_find(j->report, (struct part){ name, strlen(name) });
        c = c && c->outcome == SUITE_FAILED ? c : NULL;
    }
    j->open = c ? (int)(c - j->report->cases) : -1;
}

/* ---- the tree ---- */

static const struct {
    const char *mark;
    enum suite_outcome outcome;
} marks[] = {
    { "\xe2\x9c\x93 ", SUITE_PASSED },
    { "\xe2\x9c\x95 ", SUITE_FAILED },
    { "\xe2\x97\x8b skipped ", SUITE_SKIPPED },
    { "\xe2\x9c\x8e todo ", SUITE_SKIPPED },
};

/* "adds (17 ms)", "adds (1.2 s)" */
static double cut_duration(struct part *title)
{
    bool ms = part_ends(*title, " ms)"), s = !ms && part_ends(*title, " s)");
    size_t open = title->n;
    while ((ms || s) && open > 1 && title->at[open - 1] != '(')
        open--;
    if (!(ms || s) || open < 2)
        return -1;
    double value = part_seconds(part_after(*title, open));
    *title = part_trim(part_before(*title, open - 1));
    return value < 0 ? -1 : value * (s ? 1000 : 1);
}

static void take_tree_line(struct jest *j, struct part line)
{
    char name[DEPTH_MAX * 40 + 2 * SUITE_NAME_MAX] = "", inner[sizeof name] = "";
    size_t depth = indent_of(line) / INDENT;
    struct part p = part_trim(line);
    if (p.n == 0 || depth == 0 || depth > DEPTH_MAX)
        return;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (!part_begins(p, marks[i].mark))
            continue;
        struct part title = part_after(p, strlen(marks[i].mark));
        double took = cut_duration(&title);
        for (size_t k = 0; k + 1 < depth; k++)
            add_part(inner, sizeof inner, JOINT, j->titles[k]);
        add_part(inner, sizeof inner, JOINT, title);
        add_part(name, sizeof name, "", j->file);
        add_part(name, sizeof name, " > ", (struct part){ inner, strlen(inner) });
        struct suite_case *c = case_add(j->report, (struct part){ name, strlen(name) },
                                        marks[i].outcome);
        if (c)
            c->duration_ms = took;
        return;
    }
    j->titles[depth - 1] = p;
}

/* "FAIL ./calc.test.js (5.1 s)" */
static bool take_file(struct jest *j, struct part line)
{
    if (!part_begins(line, "PASS ") && !part_begins(line, "FAIL "))
        return false;
    close_failure(j);
    struct part file = part_trim(part_after(line, strlen("PASS ")));
    (void)cut_duration(&file);
    j->file = part_begins(file, "./") ? part_after(file, 2) : file;
    j->part = TREE;
    return true;
}

void read_jest(struct suite_report *r, const char *text, size_t n)
{
    struct jest j = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed) {
        if (part_begins(line, "Summary of all failing tests") || part_begins(line, "Test Suites: "))
            break;
        if (take_file(&j, line))
            continue;
        if (j.part != OUTSIDE && part_begins(line, BULLET)) {
            open_failure(&j, line);
        } else if (j.part == TREE) {
            take_tree_line(&j, line);
        } else if (j.open >= 0) {
            if (!j.text.at)
                j.text.at = line.at;
            j.text.n = (size_t)(line.at + line.n - j.text.at);
        }
    }
    close_failure(&j);
}
