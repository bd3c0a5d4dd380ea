/* Reads Node's errors: the line where it stopped, the error with its frames, its causes. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/node.words.h" /* generated */

enum { NODE_FRAMES = DIAGNOSE_FRAMES, MESSAGE_LINES = 6 };

/* The error that is being read. */
struct reading {
    struct piece head_file, head_line, head_code, head_caret;
    unsigned since_head; /* lines */
    struct piece type, code, message;
    struct piece thrown; /* the text of a thrown value that is not an Error: throw "x" */
    bool from_head;      /* it follows the head: no later error ended the program */
    unsigned message_lines;
    size_t n_frames;
    struct {
        struct piece file, line, column, function;
    } frames[NODE_FRAMES];
    struct piece imported_from; /* of a module that is missing */
};

static bool read_head(struct diagnoser *g, struct reading *r, struct piece line)
{
    struct match m;
    if (r->from_head || !match(g, "^((?:file://)?/[^:]+|node:[\\w/]+):(\\d+)$", line, &m))
        return false;
    r->head_file = m.group[0];
    r->head_line = m.group[1];
    r->head_code = r->head_caret = r->thrown = NO_PIECE;
    r->since_head = 1;
    return true;
}

/* The code and the mark below it, which follow the head. */
static bool read_below_head(struct diagnoser *g, struct reading *r, struct piece line)
{
    struct match m;
    if (r->since_head == 0 || r->type.at)
        return false;
    r->since_head++;
    if (r->since_head == 2) {
        r->head_code = line;
        return true;
    }
    if (r->since_head == 3 && match(g, "^\\s*\\^+\\s*$", line, &m)) {
        r->head_caret = line;
        return true;
    }
    return false;
}

static bool read_frame(struct diagnoser *g, struct reading *r, struct piece line)
{
    struct match m;
    if (!match(g,
               "^\\s+at (?:async )?(?:(.+?) "
               "\\()?((?:file://)?/[^()]*?|node:[\\w/:]+?|\\.{0,2}/?[\\w./"
               "-]+?):(\\d+):(\\d+)\\)?(?: \\{)?$",
               line, &m))
        return false;
    r->message_lines = 0;
    if (r->n_frames < NODE_FRAMES && r->type.at) {
        r->frames[r->n_frames].function = m.group[0];
        r->frames[r->n_frames].file = m.group[1];
        r->frames[r->n_frames].line = m.group[2];
        r->frames[r->n_frames++].column = m.group[3];
    }
    return true;
}

static bool read_cause(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                       struct piece line)
{
    struct match m;
    if (!match(g,
               "^\\s+\\[?(?:cause)\\]?: (?:\\[)?(\\w*(?:Error|Exception))(?: \\[(\\w+)\\])?(?:: "
               "(.*?))?\\]?(?: \\{)?$",
               line, &m))
        return false;
    struct cause *c = add_cause(d);
    (void)in;
    if (c) {
        COPY(m.group[0], c->type);
        COPY(m.group[2], c->message);
    }
    return true;
}

static bool read_error(struct diagnoser *g, struct reading *r, struct diagnosis *d,
                       struct piece line)
{
    struct match m;
    if (r->from_head || line.len == 0 || piece_byte(line, 0) == ' ' ||
        !match(g,
               "^(?:<ref \\*\\d+> )?(?:Uncaught "
               ")?(?:[\\w.]*\\.)?([A-Z]?\\w*(?:Error|Exception|Rejection)|DOMException)(?: "
               "\\[(\\w+)\\])?(?:: (.*))?$",
               line, &m))
        return false;
    r->type = m.group[0];
    r->code = m.group[1];
    r->message = m.group[2];
    r->message_lines = 1;
    r->n_frames = 0;
    r->from_head = r->since_head > 0;
    d->n_causes = 0;
    return true;
}

static void read_rest(struct diagnoser *g, struct reading *r, struct piece line)
{
    struct match m;
    if (match(g, "^\\s+code: '(\\w+)'", line, &m) && !r->code.at)
        r->code = m.group[0];
    if (!r->imported_from.at && match(g, "^- (/.+)$", line, &m))
        r->imported_from = m.group[0];
    if (starts_with(line, "Require stack:") || starts_with(line, "    at ") ||
        starts_with(line, "Node.js v"))
        r->message_lines = 0;
    if (r->message_lines > 0 && r->message_lines < MESSAGE_LINES && r->message.at &&
        piece_trim(line).len > 0) {
        r->message_lines++;
        r->message = piece_through(r->message, line);
    }
    if (r->since_head > 2 && !r->type.at && !r->thrown.at && piece_trim(line).len > 0 &&
        !starts_with(line, "(Use `node"))
        r->thrown = line;
}

static void read_line(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                      struct reading *r, struct piece line)
{
    struct match m;
    if (match(g, "^\\(node:\\d+\\) |^\\(Use `node ", line, &m) && r->since_head == 0)
        return; /* a warning */
    if (read_head(g, r, line) || read_below_head(g, r, line) || read_error(g, r, d, line))
        return;
    if (d->n_causes > 0 && read_cause(g, in, d, line))
        return;
    if (r->type.at && d->n_causes > 0) { /* these are the frames of the cause */
        struct cause *c = &d->causes[d->n_causes - 1];
        if (c->at.line == 0 &&
            match(g, "\\(?((?:file://)?/[^()]*?):(\\d+):(\\d+)\\)?$", line, &m)) {
            struct place_in_code at;
            if (set_place(in, &at, m.group[0], m.group[1], m.group[2]))
                c->at = at;
        }
        return;
    }
    if (read_frame(g, r, line))
        return;
    if (r->type.at && read_cause(g, in, d, line))
        return;
    read_rest(g, r, line);
}

/* ---- the result ---- */

bool node_categorise(struct diagnosis *d, struct piece name)
{
    for (size_t i = 0; name.at && i < ARRAY_LEN(categories); i++)
        if (piece_is(name, categories[i].name)) {
            d->category = categories[i].category;
            return true;
        }
    return false;
}

static void set_type(struct diagnoser *g, struct diagnosis *d, const struct reading *r)
{
    struct match m;
    struct piece code = r->code;
    if (!code.at && match(g, "^(E[A-Z]{3,}(?:_[A-Z]+)?): ", r->message, &m))
        code = m.group[0];
    if (!code.at &&
        match(g, "\\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\\b", r->message, &m))
        code = m.group[0];
    bool plain = piece_is(r->type, "Error") || piece_is(r->type, "SystemError");
    COPY(plain && code.at ? code : r->type, d->type);
    if (!node_categorise(d, piece_of(d->type)) || plain)
        (void)node_categorise(d, code);
    if (piece_has(r->message, "Maximum call stack size"))
        d->category = CATEGORY_RESOURCE;
    if (piece_is(r->type, "SyntaxError") && piece_has(r->message, "JSON"))
        d->category = CATEGORY_VALUE;
    if (piece_is(r->type, "SyntaxError") && (piece_has(r->message, "import statement outside") ||
                                             piece_has(r->message, "does not provide an export")))
        d->category = CATEGORY_IMPORT;
    if (piece_is(r->type, "ReferenceError") && piece_has(r->message, "ES module scope"))
        d->category = CATEGORY_IMPORT;
}

/* The mark below the code consists of carets; their column is the column in the file. */
static void set_head_columns(struct diagnosis *d, const struct reading *r)
{
    size_t from = 0;
    while (from < r->head_caret.len && piece_byte(r->head_caret, from) != '^')
        from++;
    if (!r->head_caret.at || from == r->head_caret.len)
        return;
    size_t end = from;
    while (end < r->head_caret.len && piece_byte(r->head_caret, end) == '^')
        end++;
    d->location.column = (uint32_t)from + 1;
    d->location.end_column = (uint32_t)end + 1;
}

/* Finds the line that imports the missing module. */
static void find_import(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                        struct piece file)
{
    struct match m;
    if (!match(g, "Cannot find (?:module|package) '([^']+)'", piece_of(d->message), &m))
        return;
    struct piece module = m.group[0];
    (void)set_place(in, &d->location, file, NO_PIECE, NO_PIECE);
    const struct source_file *f = find_source(in, file);
    struct piece rest = whole_source(f), line;
    char name[128];
    COPY(piece_base(module), name);
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (piece_has(line, name) && match(g, "\\b(?:import|require|from|export)\\b", line, &m)) {
            d->location.line = i;
            d->location.column = (uint32_t)piece_find(line, name) + 1;
            d->location.end_column = d->location.column + (uint32_t)strlen(name);
            return;
        }
}

static void locate(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                   const struct reading *r)
{
    struct match m;
    for (size_t i = 0; i < r->n_frames; i++)
        add_frame(in, d, r->frames[i].file, r->frames[i].line, r->frames[i].column,
                  r->frames[i].function);
    struct place_in_code head;
    bool own_head = r->head_file.at && set_place(in, &head, r->head_file, r->head_line, NO_PIECE);
    bool own_frame = d->n_frames > 0 && d->frames[0].user;
    if (own_head && (!own_frame || piece_is(r->type, "SyntaxError"))) {
        d->location = head;
        set_head_columns(d, r);
        show_line(d, head.line, r->head_code);
    } else if (own_frame) {
        /* The stack can overflow anywhere in the function; the call that fills it is the frame that
         * repeats. */
        bool full = piece_has(r->message, "Maximum call stack size") && d->n_frames > 2 &&
                    d->frames[1].user && d->frames[1].at.line == d->frames[2].at.line;
        d->location = d->frames[full ? 1 : 0].at;
        point_over_word(in, d);
    }
    struct piece from = r->imported_from;
    if (!from.at && match(g, " imported from (/\\S+)$", piece_of(d->message), &m))
        from = m.group[0];
    if (d->location.line == 0 && from.at)
        find_import(g, in, d, from);
}

static bool read_out_of_memory(struct diagnoser *g, const struct diagnose_input *in,
                               struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    while (next_line(&rest, &line))
        if (match(g, "^FATAL ERROR: (.*heap.*)$", line, &m)) {
            COPY(m.group[0], d->message);
            COPY(piece_of("heap out of memory"), d->type);
            d->category = CATEGORY_RESOURCE;
            return true;
        }
    return false;
}

bool node_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    if (node_tests_read(g, in, d))
        return true;
    struct reading r = { 0 };
    struct piece rest = text_of(in), line;
    while (next_line(&rest, &line))
        read_line(g, in, d, &r, line);
    if (!r.type.at && !r.thrown.at)
        return read_out_of_memory(g, in, d);
    if (!r.type.at) {
        struct match m;
        bool rejected = match(g, "rejected with the reason \"(.*?)\"\\.?\\]", r.thrown, &m);
        COPY(rejected ? m.group[0] : r.thrown, d->message);
        COPY(piece_of(rejected ? "UnhandledPromiseRejection" : "thrown"), d->type);
    } else {
        COPY(r.message, d->message);
        set_type(g, d, &r);
    }
    locate(g, in, d, &r);
    if (!d->location.line && !r.from_head && r.n_frames == 0 && !r.thrown.at &&
        !d->location.file[0]) {
        *d = (struct diagnosis){ .verdict = d->verdict };
        return false; /* only a line that looks like an error */
    }
    return true;
}

const struct grammar grammar_node = { "node", { "javascript" }, node_read, node_advise };
