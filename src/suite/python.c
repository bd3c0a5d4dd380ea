/* The output of pytest (with --verbosity=1 --tb=native -rfE --durations=0) and of unittest (-v). */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

struct outcome_word {
    const char *word;
    enum suite_outcome outcome;
};

/* ---- pytest ---- */

enum pytest_part { PART_RESULTS, PART_FAILURES, PART_DURATIONS, PART_SUMMARY, PART_OTHER };

static const struct {
    const char *title;
    enum pytest_part part;
} pytest_titles[] = {
    { "test session starts", PART_RESULTS },
    { "ERRORS", PART_FAILURES },
    { "FAILURES", PART_FAILURES },
    { "slowest durations", PART_DURATIONS },
    { "short test summary info", PART_SUMMARY },
};

/* pytest gives an expected failure a word of its own; it is as good as a success. */
static const struct outcome_word pytest_words[] = {
    { "PASSED", SUITE_PASSED },   { "FAILED", SUITE_FAILED }, { "ERROR", SUITE_ERROR },
    { "SKIPPED", SUITE_SKIPPED }, { "XFAIL", SUITE_SKIPPED }, { "XPASS", SUITE_PASSED },
};

struct pytest {
    struct suite_report *report;
    enum pytest_part part;
    size_t next;      /* the case at which the search for the next section begins */
    unsigned misses;  /* sections without a case: a search through all cases each */
    int open;         /* the case whose details are being read; -1: none */
    struct part text; /* of the open section */
    bool collecting;  /* the section is about a file that could not be imported */
};

/* "=== title ===" or "___ name ___": the text between. */
static bool read_heading(struct part line, char mark, struct part *ret)
{
    struct part p = line;
    while (p.n > 0 && *p.at == mark)
        p = part_after(p, 1);
    while (p.n > 0 && p.at[p.n - 1] == mark)
        p.n--;
    *ret = part_trim(p);
    return line.n > p.n && p.n >= 2 && *p.at == ' ' && p.at[p.n - 1] == ' ' && ret->n > 0;
}

/* "path.py::Class::test" is called "Class.test" in the heading of its section. */
static bool is_headed(const struct suite_case *c, struct part name)
{
    const char *at = strstr(c->name, "::");
    size_t i = 0;
    if (!at)
        return false;
    for (at += 2; *at && i < name.n; i++) {
        bool joint = at[0] == ':' && at[1] == ':';
        if (name.at[i] != (joint ? '.' : *at))
            return false;
        at += joint ? 2 : 1;
    }
    return *at == '\0' && i == name.n;
}

static int find_headed(struct pytest *p, struct part name)
{
    enum { MISSES_MAX = 50 };
    const struct suite_report *r = p->report;
    for (size_t i = 0; i < r->n && p->misses < MISSES_MAX; i++) {
        size_t k = (p->next + i) % r->n;
        const struct suite_case *c = &r->cases[k];
        if ((c->outcome == SUITE_FAILED || c->outcome == SUITE_ERROR) && !c->details &&
            is_headed(c, name)) {
            p->next = k + 1;
            return (int)k;
        }
    }
    p->misses++;
    return -1;
}

/* A module that cannot be imported has pytest's own form of a traceback. The interpreter's form is
 * the one that is explained. */
static int rewrite_line(struct buf *out, struct part line, struct err *e)
{
    struct part file;
    uint32_t number;
    size_t in = part_find(line, ": in ");
    if (part_begins(line, "E   ")) {
        line = part_after(line, 4);
    } else if (in < line.n && line.n > 0 && *line.at != ' ' &&
               part_place(part_before(line, in), &file, &number)) {
        const struct part function = part_after(line, in + 5);
        return buf_addf(out, e, "  File \"%.*s\", line %u, in %.*s\n", (int)file.n, file.at, number,
                        (int)function.n, function.at);
    } else if (part_begins(line, "Traceback:")) {
        line = PART("Traceback (most recent call last):");
    }
    return buf_add(out, line.at, line.n, e) || buf_add(out, "\n", 1, e) ? -1 : 0;
}

static void close_collecting(struct pytest *p, struct suite_case *c)
{
    scoped(buf) text = { 0 };
    struct lines lines = lines_of(p->text);
    struct part line;
    struct err e;
    while (lines_next(&lines, &line))
        if (rewrite_line(&text, line, &e)) {
            p->report->failed = true;
            return;
        }
    case_details(p->report, c, (struct part){ buf_str(&text), text.len });
}

static void close_section(struct pytest *p)
{
    if (p->open >= 0 && p->collecting)
        close_collecting(p, &p->report->cases[p->open]);
    else if (p->open >= 0)
        case_details(p->report, &p->report->cases[p->open], p->text);
    p->open = -1;
}

static void open_section(struct pytest *p, struct part name)
{
    static const char *const stages[] = { "ERROR at setup of ", "ERROR at teardown of " };
    static const char collecting[] = "ERROR collecting ";
    for (size_t i = 0; i < ARRAY_LEN(stages); i++)
        if (part_begins(name, stages[i]))
            name = part_after(name, strlen(stages[i]));
    p->collecting = part_begins(name, collecting);
    if (p->collecting) {
        const struct suite_case *c = case_add(p->report, part_after(name, sizeof collecting - 1),
                                              SUITE_ERROR);
        p->open = c ? (int)(c - p->report->cases) : -1;
    } else {
        p->open = find_headed(p, name);
    }
    p->text = (struct part){ NULL, 0 };
}

static void take_failure_line(struct pytest *p, struct part line)
{
    struct part name;
    if (read_heading(line, '_', &name)) {
        close_section(p);
        open_section(p, name);
    } else if (part_begins(line, "----") && part_find(line, " Captured ") < line.n) {
        close_section(p); /* the output of the test explains nothing */
    } else if (p->open >= 0) {
        if (!p->text.at)
            p->text.at = line.at;
        p->text.n = (size_t)(line.at + line.n - p->text.at);
    }
}

/* "path.py::test_name[a b] FAILED", "path.py::test SKIPPED (why)" */
static void take_result_line(struct pytest *p, struct part line)
{
    size_t joint = part_find(line, "::");
    for (size_t i = joint; i < line.n; i++) {
        const struct part rest = part_after(line, i + 1);
        if (line.at[i] != ' ')
            continue;
        for (size_t w = 0; w < ARRAY_LEN(pytest_words); w++) {
            size_t n = strlen(pytest_words[w].word);
            if (!part_begins(rest, pytest_words[w].word) || (rest.n > n && rest.at[n] != ' '))
                continue;
            /* A second line is about the teardown of the same test. */
            struct suite_case *c = case_find(p->report, part_before(line, i));
            if (!c)
                c = case_add(p->report, part_before(line, i), pytest_words[w].outcome);
            else
                c->outcome = pytest_words[w].outcome;
            struct part why = part_trim(part_after(rest, n));
            if (c && why.n > 2 && *why.at == '(')
                case_message(p->report, c, part_before(part_after(why, 1), why.n - 2));
            return;
        }
    }
}

/* "FAILED path.py::test - message" */
static void take_summary_line(struct pytest *p, struct part line)
{
    bool error = part_begins(line, "ERROR ");
    if (!error && !part_begins(line, "FAILED "))
        return;
    struct part name = part_after(line, error ? 6 : 7);
    size_t dash = part_find(name, " - ");
    struct part message = part_after(name, dash + 3);
    name = part_before(name, dash);
    struct suite_case *c = case_find(p->report, name);
    if (!c)
        c = case_add(p->report, name, error ? SUITE_ERROR : SUITE_FAILED);
    if (c && message.n > 0)
        case_message(p->report, c, message);
}

/* "0.05s call     path.py::test" */
static void take_duration_line(struct pytest *p, struct part line)
{
    double seconds = part_seconds(line);
    size_t s = part_find(line, "s ");
    if (seconds < 0 || s > 16)
        return;
    struct part rest = part_trim(part_after(line, s + 2));
    struct part name = part_trim(part_after(rest, part_find(rest, " ")));
    struct suite_case *c = name.n > 0 ? case_find(p->report, name) : NULL;
    if (c)
        c->duration_ms = (c->duration_ms < 0 ? 0 : c->duration_ms) + seconds * 1000;
}

static void take_pytest_title(struct pytest *p, struct part title)
{
    close_section(p);
    p->part = PART_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(pytest_titles); i++)
        if (part_is(title, pytest_titles[i].title))
            p->part = pytest_titles[i].part;
}

void read_pytest(struct suite_report *r, const char *text, size_t n)
{
    static void (*const take[])(struct pytest *, struct part) = {
        [PART_RESULTS] = take_result_line,
        [PART_FAILURES] = take_failure_line,
        [PART_DURATIONS] = take_duration_line,
        [PART_SUMMARY] = take_summary_line,
    };
    struct pytest p = { .report = r, .part = PART_OTHER, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line, title;
    while (lines_next(&lines, &line) && !r->failed)
        if (read_heading(line, '=', &title))
            take_pytest_title(&p, title);
        else if (p.part != PART_OTHER)
            take[p.part](&p, line);
    close_section(&p);
}

/* ---- unittest ---- */

static const struct outcome_word unittest_words[] = {
    { "ok", SUITE_PASSED },
    { "FAIL", SUITE_FAILED },
    { "ERROR", SUITE_ERROR },
    { "skipped", SUITE_SKIPPED },
    { "expected failure", SUITE_PASSED },
    { "unexpected success", SUITE_FAILED },
};

/* "test_a (module.Class.test_a) (i=1)" is "module.Class.test_a (i=1)". False: it is no test. */
static bool read_test(struct part line, char *out, size_t size, struct part *ret)
{
    line = part_trim(line);
    size_t open = part_find(line, " (");
    struct part method = part_before(line, open), dotted = part_after(line, open + 2);
    size_t close = part_find(dotted, ")");
    if (close == dotted.n || method.n == 0 || part_find(method, " ") < method.n)
        return false;
    struct part more = part_after(dotted, close + 1);
    dotted = part_before(dotted, close);
    if (part_begins(dotted, "unittest.loader._FailedTest"))
        dotted = method;
    bool whole = dotted.n >= method.n &&
                 memcmp(dotted.at + dotted.n - method.n, method.at, method.n) == 0;
    int n = snprintf(out, size, "%.*s%s%.*s%.*s", (int)dotted.n, dotted.at, whole ? "" : ".",
                     whole ? 0 : (int)method.n, method.at, (int)more.n, more.at);
    *ret = (struct part){ out, n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1 };
    return ret->n > 0;
}

struct unittest {
    struct suite_report *report;
    char name[SUITE_NAME_MAX + 200]; /* of the last line with a test */
    size_t name_len;                 /* 0: none waits for its outcome */
    int open;                        /* the case of the section; -1: none */
    bool inside;                     /* after the line below its heading */
    struct part text;
};

static void take_outcome(struct unittest *u, struct part name, struct part word)
{
    word = part_trim(word);
    for (size_t i = 0; i < ARRAY_LEN(unittest_words); i++) {
        size_t n = strlen(unittest_words[i].word);
        if (!part_begins(word, unittest_words[i].word) || (word.n > n && word.at[n] != ' '))
            continue;
        struct suite_case *c = case_add(u->report, name, unittest_words[i].outcome);
        struct part why = part_trim(part_after(word, n));
        if (c && why.n > 2)
            case_message(u->report, c, part_before(part_after(why, 1), why.n - 2));
        u->name_len = 0;
        return;
    }
}

/* "test (dotted) ... ok"; with a docstring, the outcome stands in the line after the name. */
static void take_unittest_line(struct unittest *u, struct part line)
{
    char name[sizeof u->name];
    struct part test;
    size_t dots = part_find(line, " ... ");
    struct part before = part_before(line, dots), after = part_after(line, dots + 5);
    if (read_test(before, name, sizeof name, &test)) {
        memcpy(u->name, name, test.n);
        u->name_len = test.n;
    }
    if (dots < line.n && u->name_len > 0)
        take_outcome(u, (struct part){ u->name, u->name_len }, after);
}

static void close_unittest(struct unittest *u)
{
    if (u->open >= 0) {
        struct suite_case *c = &u->report->cases[u->open];
        u->text = part_before(u->text, part_find(u->text, "\nStdout:\n"));
        u->text = part_before(u->text, part_find(u->text, "\nStderr:\n"));
        case_details(u->report, c, part_trim(u->text));
    }
    u->open = -1;
    u->inside = false;
    u->text = (struct part){ NULL, 0 };
}

/* "FAIL: test_a (module.Class.test_a)" */
static bool open_unittest(struct unittest *u, struct part line)
{
    char name[sizeof u->name];
    struct part test;
    bool error = part_begins(line, "ERROR: ");
    if (!error && !part_begins(line, "FAIL: "))
        return false;
    close_unittest(u);
    if (!read_test(part_after(line, error ? 7 : 6), name, sizeof name, &test))
        return false;
    struct suite_case *c = case_find(u->report, test);
    if (!c)
        c = case_add(u->report, test, error ? SUITE_ERROR : SUITE_FAILED);
    u->open = c ? (int)(c - u->report->cases) : -1;
    return true;
}

static bool is_rule(struct part line, char mark)
{
    enum { WIDTH = 70 };
    for (size_t i = 0; i < line.n; i++)
        if (line.at[i] != mark)
            return false;
    return line.n == WIDTH;
}

void read_unittest(struct suite_report *r, const char *text, size_t n)
{
    struct unittest u = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    bool sections = false, heading = false;
    while (lines_next(&lines, &line) && !r->failed) {
        if (is_rule(line, '=')) {
            close_unittest(&u);
            sections = heading = true;
        } else if (is_rule(line, '-') && (u.inside || u.open < 0)) {
            close_unittest(&u);
        } else if (is_rule(line, '-')) {
            u.inside = true;
        } else if (heading) {
            heading = !open_unittest(&u, line);
        } else if (u.inside) {
            if (!u.text.at)
                u.text.at = line.at;
            u.text.n = (size_t)(line.at + line.n - u.text.at);
        } else if (!sections) {
            take_unittest_line(&u, line);
        }
    }
    close_unittest(&u);
}
