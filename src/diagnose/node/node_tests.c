/* Reads the failed tests that jest, vitest and mocha print. The first is the diagnosis, the others
 * are further errors. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/node/node.h"

/* "  ● sum › adds", " FAIL  src/sum.test.ts > adds", "  1) sum". */
static bool begins_failure(struct diagnoser *g, struct piece line)
{
    struct match m;
    return match(g, "^\\s+\xE2\x97\x8F \\S", line, &m) ||
           match(g, "^ *FAIL +\\S+ > \\S", line, &m) || match(g, "^ {2}\\d+\\) \\S", line, &m);
}

struct failure {
    bool begun;
    struct piece type, message, expected, received, code;
};

/* Groups: function, file, line, column. */
static bool is_frame(struct diagnoser *g, struct piece line, struct match *ret)
{
    return match(g, "^\\s+at (?:async )?(?:(.+?) \\()?([^()\\s]+):(\\d+):(\\d+)\\)?$", line, ret) ||
           match(g, "^ *\xE2\x9D\xAF (?:(\\S+) )?([^\\s()]+):(\\d+):(\\d+)$", line, ret);
}

static void read_words(struct diagnoser *g, struct failure *f, struct piece line)
{
    struct match m;
    if (!f->type.at &&
        match(g, "^\\s*([A-Z]\\w*(?:Error|Exception))(?: \\[\\w+\\])?: (.*)$", line, &m)) {
        f->type = m.group[0];
        f->message = m.group[1];
    } else if (!f->type.at && match(g, "^\\s+(expect\\(.*)$", line, &m)) {
        f->type = PIECE("AssertionError");
        f->message = m.group[0];
    } else if (!f->expected.at && match(g, "^\\s+Expected[\\w ]*: +(.+)$", line, &m)) {
        f->expected = m.group[0];
    } else if (!f->received.at && match(g, "^\\s+Received[\\w ]*: +(.+)$", line, &m)) {
        f->received = m.group[0];
    } else if (!f->code.at && match(g, "^ *> +\\d+ \\| ?(.*)$", line, &m)) {
        f->code = m.group[0];
    }
}

static void copy_message(const struct failure *f, char *out, size_t size)
{
    copy_piece(f->message, out, size);
    if (f->expected.at && f->received.at)
        (void)snprintf(out, size, "%.*s: expected %.*s, received %.*s", P(f->message),
                       P(f->expected), P(f->received));
}

static bool next_failure(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                         struct further_error *ret)
{
    struct failure f = { 0 };
    struct piece before = *rest, line;
    for (; next_line(rest, &line); before = *rest) {
        struct match m;
        bool begins = begins_failure(g, line);
        if (begins && f.type.at) {
            *rest = before;
            break;
        }
        f.begun |= begins;
        if (begins || !f.begun)
            continue;
        if (!is_frame(g, line, &m))
            read_words(g, &f, line);
        else if (ret->at.line == 0 && !piece_has(m.group[1], "node_modules/"))
            (void)set_place(in, &ret->at, m.group[1], m.group[2], m.group[3]);
    }
    if (!f.type.at)
        return false;
    COPY(f.type, ret->type);
    copy_message(&f, ret->message, sizeof ret->message);
    return true;
}

bool node_tests_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct failure f = { 0 };
    struct match m;
    struct piece rest = text_of(in), line;
    while (next_line(&rest, &line)) {
        if (begins_failure(g, line)) {
            if (f.type.at)
                break;
            f.begun = true;
        } else if (f.begun && is_frame(g, line, &m)) {
            add_frame(in, d, m.group[1], m.group[2], m.group[3], m.group[0]);
        } else if (f.begun) {
            read_words(g, &f, line);
        }
    }
    if (!f.type.at || d->n_frames == 0) {
        *d = (struct diagnosis){ .verdict = d->verdict };
        return false;
    }
    COPY(f.type, d->type);
    copy_message(&f, d->message, sizeof d->message);
    if (!node_categorise(d, f.type))
        d->category = CATEGORY_RUNTIME;
    locate_by_frames(d);
    if (f.code.at)
        show_line(d, d->location.line, f.code);
    point_over_word(in, d);
    read_further(g, in, next_failure, d);
    return true;
}
