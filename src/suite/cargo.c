/* The output of `cargo test`: each test program lists its tests, and then the output of the failed
 * ones. */
#include <stdio.h>

#include "suite/parsers.h"
#include "suite/report.h"

struct cargo {
    struct suite_report *report;
    int open; /* the case whose output is read; -1: none */
    struct part text;
};

static void close_output(struct cargo *g)
{
    struct suite_case *c = g->open >= 0 ? &g->report->cases[g->open] : NULL;
    struct part text = part_trim(g->text), file;
    g->open = -1;
    g->text = (struct part){ NULL, 0 };
    if (!c || text.n == 0)
        return;
    case_details(g->report, c, text);
    /* "thread 'NAME' panicked at 'MESSAGE', FILE:LINE:COLUMN"; since 1.73: "at FILE:LINE:COLUMN:" */
    static const char words[] = "panicked at ";
    struct part said = part_after(text, part_find(text, words) + sizeof words - 1);
    uint32_t line;
    size_t quote = part_begins(said, "'") ? part_find(said, "', ") : said.n;
    if (said.n == 0)
        return;
    if (quote < said.n) {
        case_message(g->report, c,
                     part_before(part_after(part_before(said, quote), 1),
                                 part_find(part_after(part_before(said, quote), 1), "\n")));
        said = part_after(said, quote + 3);
    } else {
        struct part rest = part_after(said, part_find(said, "\n") + 1);
        case_message(g->report, c, part_before(rest, part_find(rest, "\n")));
    }
    if (part_place(part_before(said, part_find(said, "\n")), &file, &line))
        case_place(g->report, c, file, line);
}

/* "test tests::wrong ... FAILED" */
static bool take_result(struct cargo *g, struct part line)
{
    static const struct {
        const char *word;
        enum suite_outcome outcome;
    } words[] = { { "ok", SUITE_PASSED },
                  { "FAILED", SUITE_FAILED },
                  { "ignored", SUITE_SKIPPED } };
    size_t dots = part_find(line, " ... ");
    if (!part_begins(line, "test ") || dots == line.n)
        return false;
    struct part name = part_after(part_before(line, dots), strlen("test ")),
                word = part_after(line, dots + strlen(" ... "));
    if (part_ends(name, " - should panic"))
        name.n -= strlen(" - should panic");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i].word);
        if (!part_begins(word, words[i].word) ||
            (word.n > n && word.at[n] != ',' && word.at[n] != ' '))
            continue;
        struct suite_case *c = case_add(g->report, name, words[i].outcome);
        if (c && word.n > n + 2 && words[i].outcome == SUITE_SKIPPED)
            case_message(g->report, c, part_trim(part_after(word, n + 1)));
        return true;
    }
    return false;
}

/* "---- tests::wrong stdout ----" */
static bool take_heading(struct cargo *g, struct part line)
{
    static const char end[] = " stdout ----";
    if (!part_begins(line, "---- ") || !part_ends(line, end))
        return false;
    close_output(g);
    struct part name = part_after(part_before(line, line.n - (sizeof end - 1)), 5);
    struct suite_case *c = case_find(g->report, name);
    g->open = c && c->outcome == SUITE_FAILED ? (int)(c - g->report->cases) : -1;
    return true;
}

/* The list of names after all outputs, or the totals, ends the last one. */
static bool is_end(struct part line)
{
    return part_is(line, "failures:") || part_begins(line, "test result: ") ||
           part_begins(line, "error: test failed");
}

void read_cargo(struct suite_report *r, const char *text, size_t n)
{
    struct cargo g = { .report = r, .open = -1 };
    struct lines lines = { text, text + n };
    struct part line;
    while (lines_next(&lines, &line) && !r->failed) {
        if (take_heading(&g, line))
            continue;
        if (is_end(line)) {
            close_output(&g);
        } else if (g.open >= 0) {
            if (!g.text.at)
                g.text.at = line.at;
            g.text.n = (size_t)(line.at + line.n - g.text.at);
        } else {
            (void)take_result(&g, line);
        }
    }
    close_output(&g);
}
