/* Reads the reports of test runners: every failed test, not the first alone. jest, vitest and mocha are
 * read in node/node_tests.c. Runs in: keeper. */
#include <string.h>

#include "base/array.h"
#include "diagnose/tools/tools.h"

/* Reads the next failed test; *rest becomes the text behind it. */
typedef bool next_test_fn(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                          struct further_error *ret);

/* The next line of the test, which ends where a line fits `next`. */
static bool line_of_test(struct diagnoser *g, const char *next, struct piece *rest,
                         struct piece *ret_line)
{
    struct piece after = *rest;
    struct match m;
    if (!next_line(&after, ret_line) || match(g, next, *ret_line, &m))
        return false;
    *rest = after;
    return true;
}

static void set_error(struct further_error *e, struct piece type, struct piece message)
{
    COPY(piece_last_part(type), e->type);
    COPY(message, e->message);
}

/* ---- Python ---- */

#define PYTEST_HEAD "^_{3,} .+ _{3,}$|^=+ .* =+$"

static bool next_pytest(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                        struct further_error *ret)
{
    struct piece line, wrong = NO_PIECE;
    struct match m;
    while (match_next(g, "^_{3,} .+ _{3,}$", rest, &m)) {
        while (line_of_test(g, PYTEST_HEAD, rest, &line)) {
            if (!wrong.at && match(g, "^E +(.*)$", line, &m))
                wrong = m.group[0];
            else if (match(g, "^([^\\s:]+\\.py):(\\d+): *(?:in \\S+|([A-Za-z_][\\w.]*))?$", line,
                           &m) &&
                     (m.group[2].at || ret->at.line == 0)) {
                (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
                if (m.group[2].at)
                    COPY(piece_last_part(m.group[2]), ret->type);
            }
        }
        if (!wrong.at)
            continue;
        if (match(
                g,
                "^([A-Za-z_][\\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Failed))(?:: (.*))?$",
                wrong, &m))
            set_error(ret, m.group[0], m.group[1]);
        else
            set_error(ret, ret->type[0] ? piece_of(ret->type) : PIECE("AssertionError"), wrong);
        return true;
    }
    return false;
}

static bool next_unittest(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                          struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, "^(?:ERROR|FAIL): \\S", rest, &m))
        return false;
    while (line_of_test(g, "^(?:ERROR|FAIL): \\S|^Ran \\d+ test", rest, &line)) {
        struct place_in_code p;
        if (match(g, "^\\s+File \"([^\"]+)\", line (\\d+)", line, &m)) {
            if (set_place(in, &p, m.group[0], m.group[1], NO_PIECE) || ret->at.line == 0)
                ret->at = p;
        } else if (!ret->type[0] && match(g, "^([A-Za-z_][\\w.]*)(?:: (.*))?$", line, &m)) {
            set_error(ret, m.group[0], m.group[1]);
        }
    }
    return true;
}

/* ---- Ruby ---- */

/* "  1) Failure:", "Name#test [file:9]:", and the message below; "  2) Error:", "Name#test:",
 * "Type: message", and frames. */
static bool next_minitest(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                          struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, "^ +\\d+\\) (?:Failure|Error):$", rest, &m))
        return false;
    while (line_of_test(g, "^ +\\d+\\) (?:Failure|Error|Skipped):$|^\\d+ runs,", rest, &line)) {
        if (match(g, "^\\S.* \\[(.+):(\\d+)\\]:$", line, &m)) {
            (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
            COPY(PIECE("Minitest::Assertion"), ret->type);
        } else if (match(g, "^ +([^\\s:]+\\.rb):(\\d+):in ", line, &m)) {
            if (ret->at.line == 0)
                (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
        } else if (!ret->type[0] && match(g, "^([A-Z][\\w:]*): (.*)$", line, &m)) {
            COPY(m.group[0], ret->type);
            COPY(m.group[1], ret->message);
        } else if (ret->type[0] && !ret->message[0] && piece_trim(line).len > 0) {
            COPY(piece_trim(line), ret->message);
        } else if (match(g, "^ *(?:Actual|-|\\+)", line, &m) && ret->at.line > 0) {
            APPEND(ret->message, ", ", piece_trim(line));
        }
    }
    return ret->type[0] != '\0';
}

static bool next_rspec(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, "^ {2}\\d+\\) \\S", rest, &m))
        return false;
    while (line_of_test(g, "^ {2}\\d+\\) \\S|^Finished in |^Failed examples:", rest, &line)) {
        if (match(g, "^ +# (?:\\./)?([^\\s:]+\\.rb):(\\d+):in ", line, &m)) {
            if (ret->at.line == 0)
                (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
        } else if (match(g, "^ +([A-Z][\\w:]*(?:Error|Exception|NotFound|Invalid)):$", line, &m)) {
            COPY(m.group[0], ret->type);
            ret->message[0] = '\0';
        } else if (
            match(g, "^ +(?:expected|got|undefined|uninitialized|wrong number|Failure/Error:) ?.*$",
                  line, &m)) {
            APPEND(ret->message, ret->message[0] ? ", " : "", piece_trim(line));
        } else if (ret->type[0] && !ret->message[0]) {
            COPY(piece_trim(line), ret->message);
        }
    }
    if (!ret->type[0])
        COPY(PIECE("RSpec::Expectations::ExpectationNotMetError"), ret->type);
    return true;
}

/* test-unit: "Failure: test_total(TestCart)", the message, and "file:9:in `test_total'". */
static bool next_testunit(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                          struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, "^(Failure|Error): (test\\w*\\([\\w:]+\\)(?:: ([A-Z][\\w:]*): (.*))?.*)$",
                    rest, &m))
        return false;
    set_error(ret, m.group[2].at ? m.group[2] : PIECE("AssertionFailedError"),
              m.group[2].at ? m.group[3] : m.group[1]);
    while (line_of_test(g, "^(?:Failure|Error): test|^={20,}$|^\\d+ tests,", rest, &line)) {
        if (ret->at.line == 0 && match(g, "^([^\\s:]+\\.rb):(\\d+):in ", line, &m))
            (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
        else if (match(g, "^(?:<.*> (?:expected|but was).*|<.*>\\.?)$", line, &m))
            APPEND(ret->message, " ", line);
    }
    return true;
}

/* ---- the others ---- */

static bool next_gotest(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                        struct further_error *ret)
{
    struct piece line;
    struct match m;
    while (match_next(g, "^\\s*--- FAIL: (\\S+)", rest, &m)) {
        struct piece test = m.group[0];
        while (line_of_test(g, "^\\s*--- (?:FAIL|PASS|SKIP): |^(?:FAIL|ok|PASS)\\b", rest, &line))
            if (match(g, "^\\s+([^\\s:]+\\.go):(\\d+): ?(.*)$", line, &m) && ret->at.line == 0) {
                (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
                COPY(test, ret->type);
                COPY(m.group[2], ret->message);
            } else if (ret->at.line > 0 && ret->message[0] == '\0') {
                COPY(piece_trim(line), ret->message);
            }
        if (ret->at.line > 0)
            return true;
    }
    return false;
}

static bool next_cargo(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, "^---- \\S.* stdout ----$", rest, &m))
        return false;
    while (line_of_test(g, "^---- \\S.* stdout ----$|^failures:$", rest, &line)) {
        if (match(g, "^thread '.*?' (?:\\(\\d+\\) )?panicked at ([^\\s':]+):(\\d+):(\\d+):$", line,
                  &m)) {
            (void)set_place(in, &ret->at, m.group[0], m.group[1], m.group[2]);
            COPY(PIECE("panic"), ret->type);
        } else if (match(g, "^thread '.*?' panicked at '(.*)', ([^\\s':]+):(\\d+):(\\d+)$", line,
                         &m)) {
            (void)set_place(in, &ret->at, m.group[1], m.group[2], m.group[3]);
            set_error(ret, PIECE("panic"), m.group[0]);
        } else if (ret->type[0] &&
                   (!ret->message[0] || match(g, "^ +(?:left|right): ", line, &m))) {
            APPEND(ret->message, ret->message[0] ? "\n" : "", line);
        }
    }
    return ret->type[0] != '\0';
}

/* Maven's summary: "[ERROR]   CartTest.totalsUp:22 expected: <30> but was: <25>". */
static bool next_surefire(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                          struct further_error *ret)
{
    struct match m;
    char file[140];
    if (!match_next(g, "^\\[ERROR\\] +(\\w+)\\.\\w+:(\\d+)(?:->\\S+)? (?:\xC2\xBB )?(.+)$", rest,
                    &m))
        return false;
    COPY(piece_cut(m.group[0], 120), file);
    append_text(file, sizeof file, "", PIECE(".java"));
    (void)set_place(in, &ret->at, piece_of(file), m.group[1], NO_PIECE);
    set_error(ret, PIECE("AssertionFailedError"), m.group[2]);
    return true;
}

static bool next_phpunit(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                         struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, "^\\d+\\) [\\w\\\\]+::\\w+", rest, &m))
        return false;
    while (line_of_test(g, "^\\d+\\) [\\w\\\\]+::\\w+|^(?:FAILURES|ERRORS)!$", rest, &line))
        if (match(g, "^(\\S+\\.php):(\\d+)$", line, &m)) {
            if (ret->at.line == 0)
                (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
        } else if (!ret->message[0] &&
                   match(g, "^([A-Z][\\w\\\\]*(?:Error|Exception)): (.*)$", line, &m)) {
            set_error(ret, m.group[0], m.group[1]);
        } else if (!ret->message[0]) {
            COPY(piece_trim(line), ret->message);
        }
    return true;
}

/* A report has a line with this mark. */
static const struct runner {
    const char *language, *mark;
    next_test_fn *next;
} runners[] = {
    { "python", "^=+ (?:FAILURES|ERRORS) =+$", next_pytest },
    { "python", "^FAILED \\((?:failures|errors)=\\d+", next_unittest },
    { "ruby", "^\\d+ runs, \\d+ assertions, ", next_minitest },
    { "ruby", "^\\d+ examples?, [1-9]\\d* failures?", next_rspec },
    { "ruby", "^\\d+ tests, \\d+ assertions, ", next_testunit },
    { "go", "^\\s*--- FAIL: \\S+ \\(", next_gotest },
    { "rust", "^test result: FAILED", next_cargo },
    { "java", "^\\[ERROR\\] (?:Failures|Errors): *$", next_surefire },
    { "php", "^(?:FAILURES|ERRORS)!$", next_phpunit },
};

static const struct runner *runner_of(struct diagnoser *g, struct piece text)
{
    static const char *const words[] = { "FAIL", "ERRORS", " runs, ", "ailure", " tests, " };
    struct match m;
    bool any = false;
    for (size_t i = 0; !any && i < ARRAY_LEN(words); i++)
        any = piece_has(text, words[i]);
    if (!any)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(runners); i++)
        if (match_text(g, runners[i].mark, text, &m))
            return &runners[i];
    return NULL;
}

static bool is_assertion(const char *type, const char *language)
{
    return type[0] == '\0' || strstr(type, "Assert") || strstr(type, "Expectation") ||
           strcmp(language, "go") == 0;
}

const char *failed_tests_language(struct diagnoser *g, const struct diagnose_input *in)
{
    const struct runner *r = runner_of(g, text_of(in));
    return r ? r->language : NULL;
}

const char *failed_tests_read(struct diagnoser *g, const struct diagnose_input *in,
                              struct diagnosis *d)
{
    struct piece texts[] = { text_of(in), text_printed(in) };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct runner *r = runner_of(g, texts[i]);
        struct further_error e = { 0 };
        struct piece rest = texts[i];
        if (!r || !r->next(g, in, &rest, &e))
            continue;
        COPY(piece_of(e.type), d->type);
        COPY(piece_of(e.message), d->message);
        d->location = e.at;
        d->category = is_assertion(e.type, r->language) ? CATEGORY_ASSERTION : CATEGORY_RUNTIME;
        failed_tests_add(g, in, d);
        return r->language;
    }
    return NULL;
}

void failed_tests_add(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece texts[] = { text_of(in), text_printed(in) };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct runner *r = runner_of(g, texts[i]);
        struct piece rest = texts[i];
        for (unsigned n = 0; r && n < LINES_SEEN; n++) {
            struct further_error e = { 0 };
            if (!r->next(g, in, &rest, &e))
                break;
            bool itself = e.at.line == d->location.line && strcmp(e.at.file, d->location.file) == 0;
            if (!itself)
                add_further(d, &e);
        }
    }
}
