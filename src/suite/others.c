/* The output of minitest (-v) and of ctest (--output-on-failure). */
#include <ctype.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

/* ---- minitest ---- */

struct minitest {
    struct suite_report *report;
    bool heading; /* the next line names the test of a section */
    int open;     /* the case of the section; -1: none */
    struct part text;
};

/* "CalcTest#test_wrong = 0.00 s = F" */
static bool take_minitest_result(struct minitest *m, struct part line)
{
    static const struct {
        const char *end;
        enum suite_outcome outcome;
    } ends[] = { { " s = .", SUITE_PASSED },
                 { " s = F", SUITE_FAILED },
                 { " s = E", SUITE_ERROR },
                 { " s = S", SUITE_SKIPPED } };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (!part_ends(line, ends[i].end))
            continue;
        struct part before = part_before(line, line.n - strlen(ends[i].end));
        size_t at = before.n;
        while (at > 0 && before.at[at - 1] != ' ')
            at--;
        struct part name = part_before(before, at);
        if (!part_ends(name, " = ") || part_find(name, "#") == name.n)
            continue;
        struct suite_case *c = case_add(m->report, part_before(name, name.n - 3), ends[i].outcome);
        double seconds = part_seconds(part_after(before, at));
        if (c && seconds >= 0)
            c->duration_ms = seconds * 1000;
        return true;
    }
    return false;
}

/* "NoMethodError: message", lines, "    FILE:12:in `name'" becomes "FILE:12:in `name': message
 * (NoMethodError)", as Ruby prints an error that nobody rescued. */
static int make_error(struct part text, struct buf *out, struct err *e)
{
    struct lines lines = lines_of(text);
    struct part line, first = { NULL, 0 };
    size_t n = 0;
    (void)lines_next(&lines, &first);
    size_t colon = part_find(first, ": ");
    struct part message = part_after(first, colon + 2), type = part_before(first, colon);
    while (lines_next(&lines, &line)) {
        line = part_trim(line);
        if (part_find(line, ":in `") == line.n && part_find(line, ":in '") == line.n)
            continue;
        if (n++ == 0 ? buf_addf(out, e, "%.*s: %.*s (%.*s)\n", (int)line.n, line.at, (int)message.n,
                                message.at, (int)type.n, type.at)
                     : buf_addf(out, e, "\tfrom %.*s\n", (int)line.n, line.at))
            return -1;
    }
    return n > 0 ? 0 : buf_add(out, text.at, text.n, e);
}

static void close_minitest(struct minitest *m)
{
    scoped(buf) error = { 0 };
    struct err e;
    struct suite_case *c = m->open >= 0 ? &m->report->cases[m->open] : NULL;
    struct part text = part_trim(m->text);
    if (c && text.n > 0) {
        case_message(m->report, c, part_before(text, part_find(text, "\n")));
        if (c->outcome == SUITE_FAILED)
            case_details(m->report, c, text);
        else if (c->outcome == SUITE_ERROR && make_error(text, &error, &e) == 0)
            case_details(m->report, c, (struct part){ buf_str(&error), error.len });
    }
    m->open = -1;
    m->text = (struct part){ NULL, 0 };
}

/* "  2) Failure:" */
static bool is_numbered(struct part line)
{
    struct part p = part_trim(line);
    size_t n = 0;
    while (n < p.n && isdigit((unsigned char)p.at[n]))
        n++;
    struct part rest = part_after(p, n);
    return n > 0 && (part_is(rest, ") Failure:") || part_is(rest, ") Error:") ||
                     part_is(rest, ") Skipped:"));
}

/* "CalcTest#test_wrong [FILE:8]:" */
static void open_minitest(struct minitest *m, struct part line)
{
    size_t bracket = part_find(line, " [");
    struct part name = part_before(line, bracket), file;
    uint32_t number;
    if (bracket == line.n && part_ends(name, ":"))
        name.n--;
    struct suite_case *c = case_find(m->report, name);
    m->open = c ? (int)(c - m->report->cases) : -1;
    if (c && c->outcome == SUITE_FAILED &&
        part_place(part_after(line, bracket + 2), &file, &number))
        case_place(m->report, c, file, number);
}

void read_minitest(struct suite_report *r, const char *text, size_t n)
{
    struct minitest m = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed) {
        if (is_numbered(line)) {
            close_minitest(&m);
            m.heading = true;
        } else if (m.heading) {
            open_minitest(&m, line);
            m.heading = false;
        } else if (part_find(line, " assertions, ") < line.n) {
            close_minitest(&m);
        } else if (m.open >= 0) {
            if (!m.text.at)
                m.text.at = line.at;
            m.text.n = (size_t)(line.at + line.n - m.text.at);
        } else {
            (void)take_minitest_result(&m, line);
        }
    }
    close_minitest(&m);
}

/* ---- ctest ---- */

struct ctest {
    struct suite_report *report;
    int open;
    struct part text;
};

static void close_ctest(struct ctest *t)
{
    struct part text = part_trim(t->text);
    struct suite_case *c = t->open >= 0 ? &t->report->cases[t->open] : NULL;
    if (c && c->outcome == SUITE_FAILED && text.n > 0)
        case_details(t->report, c, text);
    t->open = -1;
    t->text = (struct part){ NULL, 0 };
}

/* "2/3 Test #2: wrong ....Subprocess aborted***Exception:   0.01 sec" */
static bool take_ctest_result(struct ctest *t, struct part line)
{
    static const char mark[] = "Test #";
    size_t at = part_find(line, mark);
    struct part rest = part_after(line, at + sizeof mark - 1);
    size_t colon = part_find(rest, ": ");
    struct part name = part_after(rest, colon + 2);
    size_t dots = part_find(name, " .");
    struct part verdict = part_after(name, dots + 1);
    if (at == line.n || at > 16 || colon == rest.n || dots == name.n || !part_ends(line, " sec"))
        return false;
    while (verdict.n > 0 && *verdict.at == '.')
        verdict = part_after(verdict, 1);
    bool good = part_find(verdict, "***") == verdict.n;
    bool skipped = part_find(verdict, "***Skipped") < verdict.n ||
                   part_find(verdict, "***Not Run (Disabled)") < verdict.n;
    struct suite_case *c = case_add(t->report, part_before(name, dots),
                                    good      ? SUITE_PASSED
                                    : skipped ? SUITE_SKIPPED
                                              : SUITE_FAILED);
    close_ctest(t);
    if (!c)
        return true;
    t->open = (int)(c - t->report->cases);
    struct part words = part_before(verdict, verdict.n - 4);
    size_t number = words.n;
    while (number > 0 && words.at[number - 1] != ' ')
        number--;
    double seconds = part_seconds(part_after(words, number));
    c->duration_ms = seconds < 0 ? -1 : seconds * 1000;
    if (!good)
        case_message(t->report, c, part_trim(part_before(words, number)));
    return true;
}

void read_ctest(struct suite_report *r, const char *text, size_t n)
{
    struct ctest t = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed) {
        if (take_ctest_result(&t, line))
            continue;
        if (part_begins(part_trim(line), "Start ") ||
            part_find(line, "% tests passed, ") < line.n) {
            close_ctest(&t);
        } else if (t.open >= 0) {
            if (!t.text.at)
                t.text.at = line.at;
            t.text.n = (size_t)(line.at + line.n - t.text.at);
        }
    }
    close_ctest(&t);
}
