/* What jest, vitest and mocha print of a test that failed. The first one is told. */
#include <stdio.h>
#include <string.h>

#include "diagnose/node.h"

/* "  ● sum › adds", " FAIL  src/sum.test.ts > adds", "  1) sum". */
static bool begins_failure(struct diagnoser *g, struct piece line)
{
    struct match m;
    return match(g, "^\\s+\xE2\x97\x8F \\S", line, &m) ||
           match(g, "^ *FAIL +\\S+ > \\S", line, &m) || match(g, "^ {2}1\\) \\S", line, &m);
}

struct failure {
    bool begun;
    struct piece type, message, expected, received, code;
};

static bool read_frame(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                       struct piece line)
{
    struct match m;
    if (!match(g, "^\\s+at (?:async )?(?:(.+?) \\()?([^()\\s]+):(\\d+):(\\d+)\\)?$", line, &m) &&
        !match(g, "^ *\xE2\x9D\xAF (?:(\\S+) )?([^\\s()]+):(\\d+):(\\d+)$", line, &m))
        return false;
    add_frame(in, d, m.group[1], m.group[2], m.group[3], m.group[0]);
    return true;
}

static void read_line(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                      struct failure *f, struct piece line)
{
    struct match m;
    if (read_frame(g, in, d, line))
        return;
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

bool node_tests_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct failure f = { 0 };
    struct piece rest = { in->text, in->len }, line;
    while (next_line(&rest, &line)) {
        if (begins_failure(g, line)) {
            if (f.type.at)
                break;
            f.begun = true;
        } else if (f.begun) {
            read_line(g, in, d, &f, line);
        }
    }
    if (!f.type.at || d->n_frames == 0) {
        *d = (struct diagnosis){ .verdict = d->verdict };
        return false;
    }
    COPY(f.type, d->type);
    COPY(f.message, d->message);
    if (f.expected.at && f.received.at)
        (void)snprintf(d->message, sizeof d->message, "%.*s: expected %.*s, received %.*s",
                       P(f.message), P(f.expected), P(f.received));
    if (!node_categorise(d, f.type))
        d->category = CATEGORY_RUNTIME;
    locate_by_frames(d);
    if (f.code.at)
        show_line(d, d->location.line, f.code);
    point_over_word(in, d);
    return true;
}
