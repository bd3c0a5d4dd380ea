/* Reads Python's tracebacks: chains, groups, and syntax errors, which come without a header. Runs
 * in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/python/python.h"

enum { BLOCKS = 12, BLOCK_FRAMES = DIAGNOSE_FRAMES, MESSAGE_LINES = 4 };

/* One exception with its frames. */
struct block {
    struct piece type, message;
    size_t n_frames; /* all of them; the last BLOCK_FRAMES are kept, in a ring */
    struct py_frame {
        struct piece file, line, function, code, carets;
        bool numbered; /* IPython's form: lines around it are shown with their numbers */
    } frames[BLOCK_FRAMES];
    bool sub; /* in a group */
    unsigned message_lines;
};

struct traceback {
    struct block blocks[BLOCKS];
    size_t n;     /* blocks of the chain that is being read; the last chain ended the program */
    bool open;    /* the last block waits for its exception */
    bool chained; /* a sentence before the next block connects it with this chain */
    bool sub;     /* the next block is in a group */
};

static struct block *last_block(struct traceback *t)
{
    return t->n ? &t->blocks[t->n - 1] : NULL;
}

static struct block *begin_block(struct traceback *t)
{
    if (!t->chained && !t->sub)
        t->n = 0;
    if (t->n == BLOCKS) { /* the oldest block helps least */
        memmove(&t->blocks[0], &t->blocks[1], (BLOCKS - 1) * sizeof t->blocks[0]);
        t->n--;
    }
    struct block *b = &t->blocks[t->n++];
    *b = (struct block){ .sub = t->sub };
    t->open = true;
    t->chained = false;
    return b;
}

static struct py_frame *kept(struct block *b, size_t from_innermost)
{
    return &b->frames[(b->n_frames - 1 - from_innermost) % BLOCK_FRAMES];
}

/* A line of a group stands behind bars: "  | File ..."; rules between its members are "  +---- 1
 * ----". */
static struct piece unbarred(struct diagnoser *g, struct traceback *t, struct piece line)
{
    struct match m;
    size_t i = indent_of(line);
    if (i == line.len || (piece_byte(line, i) != '|' && piece_byte(line, i) != '+'))
        return line;
    if (match(g, "^ *\\+(?:-\\+)?-+ (?:\\d+|\\.\\.\\.) -+$", line, &m)) {
        t->sub = true;
        return NO_PIECE;
    }
    if (match(g, "^ *\\+-+$", line, &m)) {
        t->sub = false;
        return NO_PIECE;
    }
    if (!match(g, "^ *[|+] ?(.*)$", line, &m))
        return line;
    return m.group[0];
}

static bool read_frame(struct diagnoser *g, struct traceback *t, struct piece line)
{
    struct match m;
    bool numbered = false;
    if (!match(g, "^\\s*File \"([^\"]+)\", line (\\d+)(?:, in (.+))?$", line, &m)) {
        numbered = match(g, "^\\s*(Cell In\\s?\\[\\d+\\]), line (\\d+)(?:, in (.+))?$", line, &m) ||
                   match(g, "^File ([^\\s\":]+):(\\d+)(?:, in (.+))?$", line, &m) ||
                   match(g, "^(<ipython-input-\\d+-\\w+>|~?/\\S+\\.py) in ()(\\S+)", line, &m);
        if (!numbered)
            return false;
    }
    struct block *b = last_block(t);
    if (!b || !t->open)
        b = begin_block(t);
    b->n_frames++;
    *kept(b, 0) = (struct py_frame){
        .file = m.group[0], .line = m.group[1], .function = m.group[2], .numbered = numbered
    };
    return true;
}

static bool only_carets(struct piece line)
{
    bool any = false;
    for (size_t i = 0; i < line.len; i++) {
        if (piece_byte(line, i) != ' ' && piece_byte(line, i) != '^' &&
            piece_byte(line, i) != '~' && piece_byte(line, i) != '\t')
            return false;
        any = any || piece_byte(line, i) == '^' || piece_byte(line, i) == '~';
    }
    return any;
}

/* Lines that IPython shows: "----> 3 f(x)" is the line of the frame, the others stand around it. */
static bool read_numbered(struct diagnoser *g, struct traceback *t, struct piece line)
{
    struct match m;
    struct block *b = last_block(t);
    if (!b || !t->open || b->n_frames == 0 || !kept(b, 0)->numbered)
        return false;
    if (match(g, "^-+> *(\\d+) (.*)$", line, &m)) {
        kept(b, 0)->code = m.group[1];
        if (kept(b, 0)->line.len == 0) /* before IPython 8 only this mark has the line number */
            kept(b, 0)->line = m.group[0];
        return true;
    }
    return match(g, "^ *\\d+(?: |$)", line, &m);
}

static bool read_code(struct traceback *t, struct piece line)
{
    struct block *b = last_block(t);
    if (!b || !t->open || b->n_frames == 0 || indent_of(line) < 3)
        return false;
    struct py_frame *f = kept(b, 0);
    if (!f->code.at)
        f->code = line;
    else if (!f->carets.at && only_carets(line))
        f->carets = line;
    return true;
}

static bool read_exception(struct diagnoser *g, struct traceback *t, struct piece line)
{
    struct match m;
    struct block *b = last_block(t);
    if (!b || !t->open || !match(g, "^([A-Za-z_][\\w.<>]*)(?:: (.*))?$", line, &m))
        return false;
    b->type = piece_last_part(m.group[0]);
    b->message = m.group[1];
    b->message_lines = 1;
    t->open = false;
    return true;
}

/* Lines that the interpreter prints below the message and that are not part of it. */
#define AFTER_MESSAGE                                                                             \
    "^\\S+:\\d+: \\w*Warning: |^Exception ignored in|^Task exception was never|^[=-]{3,}|"        \
    "^\\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\\]?(?:[: ]|$)|^Ran \\d+ " \
    "test|^FAILED "

/* Further lines of the message, which follow it directly. */
static void read_more(struct diagnoser *g, struct traceback *t, struct piece line)
{
    struct match m;
    struct block *b = last_block(t);
    if (!b || !b->type.at || b->message_lines == 0)
        return;
    if (line.len == 0 || b->message_lines == MESSAGE_LINES || b->sub || !b->message.at ||
        starts_with(line, "-----") || match(g, AFTER_MESSAGE, line, &m)) {
        b->message_lines = 0;
        return;
    }
    b->message_lines++;
    if (b->message.at)
        b->message = piece_through(b->message, line);
}

static void read_line(struct diagnoser *g, struct traceback *t, struct piece raw)
{
    struct piece line = unbarred(g, t, raw);
    if (!line.at)
        return;
    if (starts_with(line, "Traceback (most recent call last)") ||
        starts_with(line, "Exception Group Traceback (most recent call last)")) {
        if (line.at == raw.at)
            t->sub = false;
        (void)begin_block(t);
    } else if (starts_with(line, "The above exception was the direct cause") ||
               starts_with(line, "During handling of the above exception")) {
        t->chained = true;
    } else if (!read_frame(g, t, line) && !read_numbered(g, t, line) && !read_code(t, line) &&
               !read_exception(g, t, line) && !t->chained) {
        read_more(g, t, line);
    }
}

/* ---- places ---- */

/* Carets stand below the code as it is printed, without the indentation of the source. */
static void set_columns(const struct diagnose_input *in, struct place_in_code *p,
                        const struct py_frame *f)
{
    struct piece source = source_line(find_source(in, f->file), p->line);
    if (!f->carets.at || !f->code.at)
        return;
    size_t from = 0;
    while (from < f->carets.len && piece_byte(f->carets, from) != '^')
        from++;
    if (from == f->carets.len)
        for (from = 0; from < f->carets.len && piece_byte(f->carets, from) != '~';)
            from++;
    size_t end = from;
    while (end < f->carets.len && piece_byte(f->carets, end) == piece_byte(f->carets, from))
        end++;
    size_t printed = indent_of(f->code);
    if (from < printed)
        return;
    uint32_t own = source.at ? (uint32_t)indent_of(source) : 0;
    p->column = (uint32_t)(from - printed) + own + 1;
    p->end_column = p->column + (uint32_t)(end - from);
}

/* Without carets the location is the whole line. */
static void point_at_line(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece line = line_at(in, d);
    struct piece trimmed = piece_trim(line);
    if (d->location.column != 0 || trimmed.len == 0)
        return;
    d->location.column = (uint32_t)indent_of(line) + 1;
    d->location.end_column = d->location.column + piece_characters(trimmed);
}

static void locate(const struct diagnose_input *in, struct diagnosis *d, struct block *b)
{
    size_t n = b->n_frames < BLOCK_FRAMES ? b->n_frames : BLOCK_FRAMES;
    const struct py_frame *at = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct py_frame *f = kept(b, i);
        struct place_in_code p;
        bool users = set_place(in, &p, f->file, f->line, NO_PIECE);
        add_frame(in, d, f->file, f->line, NO_PIECE, f->function);
        if (users && !at)
            at = f;
    }
    if (!at && n > 0)
        at = kept(b, 0);
    if (!at)
        return;
    (void)set_place(in, &d->location, at->file, at->line, NO_PIECE);
    set_columns(in, &d->location, at);
    for (size_t i = 0; i < d->n_frames; i++)
        if (d->frames[i].at.line == d->location.line) {
            d->frames[i].at.column = d->location.column;
            d->frames[i].at.end_column = d->location.end_column;
            break;
        }
    if (at->code.at)
        show_line(d, d->location.line, piece_trim(at->code));
}

static void copy_cause(const struct diagnose_input *in, struct diagnosis *d, struct block *b)
{
    struct cause *c = add_cause(d);
    if (!c)
        return;
    COPY(b->type, c->type);
    COPY(b->message, c->message);
    size_t n = b->n_frames < BLOCK_FRAMES ? b->n_frames : BLOCK_FRAMES;
    for (size_t i = 0; i < n; i++)
        if (set_place(in, &c->at, kept(b, i)->file, kept(b, i)->line, NO_PIECE))
            return;
}

/* ---- pytest ---- */

#define EXCEPTION "([A-Za-z_][\\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Failed))"

/* With --tb=line one line has everything: "/app/shop.py:6: TypeError: message". */
static bool pytest_line(struct diagnoser *g, struct piece line, struct block *b)
{
    struct match m;
    if (!match(g, "^(\\S+\\.py):(\\d+): " EXCEPTION "(?:: (.*))?$", line, &m) ||
        m.group[3].len == 0)
        return false;
    b->n_frames = 1;
    *kept(b, 0) = (struct py_frame){ .file = m.group[0], .line = m.group[1] };
    b->type = m.group[2];
    b->message = m.group[3];
    return true;
}

/* The first failed test in pytest's output: "> " stands before the line, "E " before the error, and
 * the place with the exception's type comes last. With --tb=short the places come first, and the
 * type follows "E ". */
static bool pytest_read(struct diagnoser *g, struct piece rest, struct block *b)
{
    struct piece line, code = NO_PIECE, wrong = NO_PIECE;
    struct match m;
    *b = (struct block){ 0 };
    while (next_line(&rest, &line)) {
        if (b->n_frames == 0 && pytest_line(g, line, b))
            return true;
        if (wrong.at && b->n_frames > 0 && match(g, "^(?:_{3,}|={3,}|-{3,}) ", line, &m))
            break; /* the next test */
        if (match(g, "^> +(.*)$", line, &m)) {
            code = m.group[0];
        } else if (match(g, "^E +(.*)$", line, &m)) {
            wrong = wrong.at ? wrong : m.group[0];
        } else if (match(g, "^([^\\s:]+\\.py):(\\d+): *(?:in (\\S+)|([A-Za-z_][\\w.]*))?$", line,
                         &m)) {
            b->n_frames++;
            *kept(b, 0) = (struct py_frame){
                .file = m.group[0], .line = m.group[1], .function = m.group[2], .code = code
            };
            if (m.group[3].len > 0 && wrong.at) {
                b->type = m.group[3];
                break;
            }
        }
    }
    if (!wrong.at || b->n_frames == 0)
        return false;
    bool named = match(g, "^" EXCEPTION "(?:: (.*))?$", wrong, &m);
    if (!b->type.at)
        b->type = named ? m.group[0] : PIECE("AssertionError");
    b->message = named && m.group[1].at ? m.group[1] : wrong;
    return true;
}

/* argparse ends the program itself: "usage: ...", and then "NAME: error: MESSAGE". */
static bool read_usage(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match usage, m;
    struct piece text = text_of(in);
    if (!match_text(g, "^usage: (\\S+)", text, &usage) ||
        !match_text(g, "^\\S.*: error: (.+)$", text, &m))
        return false;
    COPY(PIECE("SystemExit"), d->type);
    COPY(m.group[0], d->message);
    d->category = CATEGORY_RUNTIME;
    return true;
}

static bool python_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct traceback t = { 0 };
    struct piece rest = text_of(in), line;
    while (next_line(&rest, &line))
        read_line(g, &t, line);
    size_t outer = t.n; /* the last block that is not in a group */
    while (outer > 0 && (t.blocks[outer - 1].sub || !t.blocks[outer - 1].type.at))
        outer--;
    if (outer == 0 && pytest_read(g, text_of(in), &t.blocks[0]))
        outer = t.n = 1;
    if (outer == 0)
        return read_usage(g, in, d);
    struct block *b = &t.blocks[outer - 1];
    COPY(piece_last_part(b->type), d->type);
    COPY(b->message, d->message);
    if (!classify(g, d, py_library))
        d->category = python_category(d->type);
    locate(in, d, b);
    for (size_t i = outer; i < t.n; i++) /* members of the group */
        if (t.blocks[i].type.at)
            copy_cause(in, d, &t.blocks[i]);
    for (size_t i = outer - 1; i-- > 0;)
        if (t.blocks[i].type.at)
            copy_cause(in, d, &t.blocks[i]);
    struct match m;
    if (match(g, "^name '(\\w+)' is not defined", piece_of(d->message), &m))
        point_at(in, d, m.group[0]);
    point_at_line(in, d);
    return true;
}

const struct grammar grammar_python = { .name = "python",
                                        .read = python_read,
                                        .advise = python_advise };
