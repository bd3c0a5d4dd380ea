/* The output of `rspec --format documentation`: a tree of groups and examples, then the failures. */
#include <ctype.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "suite/parsers.h"
#include "suite/report.h"

enum { DEPTH_MAX = 12, INDENT = 2 };

struct rspec {
    struct suite_report *report;
    struct part titles[DEPTH_MAX]; /* of the groups that are open, the outermost first */
    enum { TREE, PENDING, FAILURES, END } part;
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

/* RSpec's own rule: no blank before the name of a method. */
static void add_title(char *out, size_t size, struct part title)
{
    size_t used = strlen(out);
    bool joined = used == 0 || part_begins(title, "#") || part_begins(title, ".");
    (void)snprintf(out + used, size - used, "%s%.*s", joined ? "" : " ",
                   (int)(title.n < SUITE_NAME_MAX ? title.n : SUITE_NAME_MAX), title.at);
}

/* "wrong (FAILED - 1)", "later (PENDING: why)" */
static enum suite_outcome read_outcome(struct part *title, struct part *why)
{
    static const char failed[] = " (FAILED - ", pending[] = " (PENDING: ";
    size_t at = part_find(*title, failed);
    bool closed = part_ends(*title, ")");
    *why = (struct part){ NULL, 0 };
    if (closed && at < title->n) {
        *title = part_before(*title, at);
        return SUITE_FAILED;
    }
    at = part_find(*title, pending);
    if (!closed || at == title->n)
        return SUITE_PASSED;
    *why = part_after(*title, at + sizeof pending - 1);
    why->n--;
    *title = part_before(*title, at);
    return SUITE_SKIPPED;
}

/* A line of the tree is a group if the next one is deeper; `next` may be blank. */
static void take_tree_line(struct rspec *r, struct part line, struct part next)
{
    size_t indent = indent_of(line), depth = indent / INDENT;
    struct part title = part_trim(line), why;
    char name[DEPTH_MAX * 40 + 2 * SUITE_NAME_MAX] = "";
    if (title.n == 0 || depth >= DEPTH_MAX || indent % INDENT != 0)
        return;
    if (part_trim(next).n > 0 && indent_of(next) > indent) {
        r->titles[depth] = title;
        for (size_t i = depth + 1; i < DEPTH_MAX; i++)
            r->titles[i] = (struct part){ NULL, 0 };
        return;
    }
    if (depth == 0) /* text of the program: each example is in a group */
        return;
    enum suite_outcome outcome = read_outcome(&title, &why);
    if (outcome == SUITE_FAILED) /* the list of failures has its whole name */
        return;
    for (size_t i = 0; i < depth; i++)
        if (r->titles[i].n > 0)
            add_title(name, sizeof name, r->titles[i]);
    add_title(name, sizeof name, title);
    struct suite_case *c = case_add(r->report, (struct part){ name, strlen(name) }, outcome);
    if (c && why.n > 0)
        case_message(r->report, c, why);
}

/* ---- failures ---- */

/* "# ./calc.rb:4:in `first'" becomes "calc.rb:4:in `first'". */
static struct part frame_of(struct part line)
{
    struct part p = part_trim(line);
    if (!part_begins(p, "# "))
        return (struct part){ NULL, 0 };
    p = part_after(p, 2);
    return part_begins(p, "./") ? part_after(p, 2) : p;
}

/* The parts of a failure: "Failure/Error: CODE", "TYPE:" alone, the message, frames. */
struct failure {
    struct part type, message, frame;
};

static void take_failure_line(struct failure *f, struct part line)
{
    struct part p = part_trim(line), frame = frame_of(line), file;
    uint32_t number;
    bool name = p.n > 1 && part_ends(p, ":") && isupper((unsigned char)*p.at) &&
                part_find(p, " ") == p.n;
    if (frame.n > 0 && part_place(frame, &file, &number)) {
        if (f->frame.n == 0)
            f->frame = frame;
    } else if (part_begins(p, "Failure/Error:")) {
        return;
    } else if (name && f->type.n == 0 && f->message.n == 0) {
        f->type = part_before(p, p.n - 1);
    } else if (p.n > 0 && f->message.n == 0) {
        f->message = p;
    }
}

/* As Ruby prints an error that nobody rescued, with the frames; an expectation as RSpec prints it. */
static int make_details(const struct failure *f, struct part text, struct buf *out, struct err *e)
{
    struct lines lines = lines_of(text);
    struct part line;
    size_t n = 0;
    if (f->type.n == 0)
        return buf_add(out, text.at, text.n, e);
    while (lines_next(&lines, &line)) {
        struct part frame = frame_of(line);
        if (frame.n == 0)
            continue;
        if (n++ == 0 ? buf_addf(out, e, "%.*s: %.*s (%.*s)\n", (int)frame.n, frame.at,
                                (int)f->message.n, f->message.at, (int)f->type.n, f->type.at)
                     : buf_addf(out, e, "\tfrom %.*s\n", (int)frame.n, frame.at))
            return -1;
    }
    return n > 0 ? 0 : buf_add(out, text.at, text.n, e);
}

static void close_failure(struct rspec *r)
{
    scoped(buf) details = { 0 };
    struct err e;
    struct failure f = { 0 };
    struct suite_case *c = r->open >= 0 ? &r->report->cases[r->open] : NULL;
    struct part text = part_trim(r->text), line, file;
    struct lines lines = lines_of(text);
    uint32_t number;
    r->open = -1;
    r->text = (struct part){ NULL, 0 };
    if (!c || text.n == 0)
        return;
    while (lines_next(&lines, &line))
        take_failure_line(&f, line);
    if (f.message.n > 0)
        case_message(r->report, c, f.message);
    if (f.frame.n > 0 && part_place(f.frame, &file, &number))
        case_place(r->report, c, file, number);
    if (make_details(&f, text, &details, &e))
        r->report->failed = true;
    else
        case_details(r->report, c, (struct part){ buf_str(&details), details.len });
}

/* "  1) Calc wrong" */
static bool take_number(struct rspec *r, struct part line)
{
    struct part p = part_after(line, INDENT);
    size_t n = 0;
    while (n < p.n && isdigit((unsigned char)p.at[n]))
        n++;
    if (n == 0 || indent_of(line) != INDENT || !part_begins(part_after(p, n), ") "))
        return false;
    close_failure(r);
    struct suite_case *c = case_add(r->report, part_trim(part_after(p, n + 2)), SUITE_FAILED);
    r->open = c ? (int)(c - r->report->cases) : -1;
    return true;
}

/* A file that cannot be loaded has no examples. */
static void take_load_error(struct rspec *r, struct part line)
{
    static const char words[] = "An error occurred while loading ";
    struct part file = part_after(line, sizeof words - 1);
    file = part_before(file, part_find(file, " - "));
    if (part_ends(file, "."))
        file.n--;
    if (part_begins(file, "./"))
        file = part_after(file, 2);
    close_failure(r);
    struct suite_case *c = case_add(r->report, file, SUITE_ERROR);
    r->open = c ? (int)(c - r->report->cases) : -1;
    r->part = FAILURES;
}

static void take_line(struct rspec *r, struct part line, struct part next)
{
    if (part_is(line, "Pending: (Failures listed here are expected and do not affect your suite's "
                      "status)")) {
        r->part = PENDING;
    } else if (part_is(line, "Failures:")) {
        r->part = FAILURES;
    } else if (part_begins(line, "An error occurred while loading ")) {
        take_load_error(r, line);
    } else if (part_begins(line, "Finished in ") && part_find(line, " (files took ") < line.n) {
        close_failure(r);
        r->part = END;
    } else if (r->part == TREE) {
        take_tree_line(r, line, next);
    } else if (r->part == FAILURES && !take_number(r, line) && r->open >= 0) {
        if (!r->text.at)
            r->text.at = line.at;
        r->text.n = (size_t)(line.at + line.n - r->text.at);
    }
}

void read_rspec(struct suite_report *r, const char *text, size_t n)
{
    struct rspec s = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line, next = { NULL, 0 };
    bool more = lines_next(&lines, &line);
    while (more && !r->failed && s.part != END) {
        more = lines_next(&lines, &next);
        take_line(&s, line, more ? next : (struct part){ NULL, 0 });
        line = next;
    }
    close_failure(&s);
}
