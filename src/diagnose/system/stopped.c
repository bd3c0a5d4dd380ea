/* The place at which a program was before a deadline ended it, by its own word: some looks at its
 * threads, each a line "At" and the stacks of the threads, the innermost frame first. The guest may
 * have written it instead: it is bounded, and nothing but the place depends on it. Runs in: reader. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

enum { LOOKS_MAX = 16, LINES_MAX = 4096, NESTED_MAX = 64, SHOWN = 80 };

/* The form of our own drivers, which is that of Python's faulthandler. */
static const char frame_form[] = "^  File \"([^\"]{1,400})\", line (\\d{1,7}) in (.{1,200})$";

/* A thread that is in one of these files waits for another one. */
static const char *const waiting[] = { "threading.py", "queue.py",  "selectors.py", "subprocess.py",
                                       "socket.py",    "thread.py", "_base.py",     NULL };

/* The frames of the thread that probably ran, in one look. */
struct look {
    struct piece frames;
    unsigned rank;
    struct place_in_code at; /* the innermost frame in the files of the job; line 0: none */
};

struct looks {
    struct look all[LOOKS_MAX];
    size_t n;
};

/* A frame, without a pattern: most lines of the file are frames. */
static bool is_frame(struct piece line)
{
    return starts_with(line, "  File \"");
}

/* Of two threads, one that does not wait is of more interest, and then the one that held the lock of
 * the interpreter. */
static unsigned rank_of(struct diagnoser *g, struct piece innermost, bool current)
{
    struct match m;
    if (!match(g, frame_form, innermost, &m))
        return 0;
    bool waits = piece_among(piece_base(m.group[0]), waiting);
    return 1 + (waits ? 0U : 2U) + (current ? 1U : 0U);
}

static void take_thread(struct diagnoser *g, struct looks *l, struct piece first, struct piece last,
                        bool current)
{
    struct look *look = l->n > 0 ? &l->all[l->n - 1] : NULL;
    unsigned rank = look && first.at ? rank_of(g, first, current) : 0;
    if (rank == 0 || rank <= look->rank)
        return;
    look->rank = rank;
    look->frames = piece_through(first, last);
}

static void split(struct diagnoser *g, struct piece text, struct looks *l)
{
    struct piece line, first = NO_PIECE, last = NO_PIECE;
    bool current = false;
    for (unsigned i = 0; i < LINES_MAX && next_line(&text, &line); i++) {
        if (is_frame(line)) {
            first = first.at ? first : line;
            last = line;
            continue;
        }
        take_thread(g, l, first, last, current);
        first = NO_PIECE;
        current = starts_with(line, "Stack ");
        if (piece_is(line, "At") && l->n < LOOKS_MAX)
            l->all[l->n++] = (struct look){ 0 };
    }
    take_thread(g, l, first, last, current);
}

static void find_place(struct diagnoser *g, const struct diagnose_input *in, struct look *look)
{
    struct piece rest = look->frames, line;
    struct match m;
    while (next_line(&rest, &line)) {
        struct place_in_code at;
        if (match(g, frame_form, line, &m) &&
            set_place(in, &at, m.group[0], m.group[1], NO_PIECE) && at.line > 0) {
            look->at = at;
            return;
        }
    }
}

static bool is_same(const struct place_in_code *a, const struct place_in_code *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* The look whose place most of the looks have; the last one of several. */
static const struct look *hottest(const struct looks *l)
{
    const struct look *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < l->n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < l->n; k++)
            same += is_same(&l->all[i].at, &l->all[k].at);
        if (l->all[i].at.line == 0 || same < most)
            continue;
        most = same;
        best = &l->all[i];
    }
    return best;
}

bool stopped_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct looks l = { .n = 0 };
    struct match m;
    split(g, piece_in(in->whereabouts, in->whereabouts ? in->whereabouts_len : 0), &l);
    for (size_t i = 0; i < l.n; i++)
        find_place(g, in, &l.all[i]);
    const struct look *look = hottest(&l);
    if (!look)
        return false;
    d->n_frames = 0;
    struct piece rest = look->frames, line;
    while (next_line(&rest, &line))
        if (match(g, frame_form, line, &m))
            add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
    if (in->hot_line == 0 || d->location.line == 0)
        d->location = look->at;
    return true;
}

/* ---- the loop around it ---- */

static const char *const loop_words[] = { "for", "while", "until", "loop", "do", "foreach", NULL };
static const char *const function_words[] = { "def", "func", "function", "class", "fn", NULL };

static struct piece first_word(struct piece line)
{
    size_t n = 0;
    while (is_word_byte(piece_byte(line, n)))
        n++;
    return piece_cut(line, n);
}

/* A block that is called for each element, in Ruby and JavaScript. */
static bool is_iteration(struct piece line)
{
    return piece_has(line, ".forEach(") || piece_has(line, " do |") ||
           ((piece_has(line, ".times") || piece_has(line, ".each")) &&
            (ends_with(line, " do") || piece_has(line, "{")));
}

static bool is_loop(struct piece line)
{
    struct piece word = first_word(line);
    if (piece_is(word, "async"))
        word = first_word(piece_trim(piece_skip(line, word.len)));
    return piece_among(word, loop_words) || is_iteration(line);
}

static bool is_function(struct piece line)
{
    struct piece word = first_word(line);
    if (piece_is(word, "async"))
        word = first_word(piece_trim(piece_skip(line, word.len)));
    return piece_among(word, function_words);
}

/* The blocks around a line, by indentation: each is deeper than the one before it. */
struct blocks {
    struct {
        uint32_t line;
        size_t indent;
        struct piece text;
    } at[NESTED_MAX];
    size_t n;
};

/* The end of a block belongs to it. Interpreters name this line, too. */
static bool is_closer(struct piece text)
{
    return piece_byte(text, 0) == '}' || piece_is(first_word(text), "end");
}

static void add_line(struct blocks *b, uint32_t number, struct piece line, bool last)
{
    struct piece text = piece_trim(piece_trim_end(line));
    size_t indent = indent_of(line);
    if (text.len == 0 || (last && is_closer(text)))
        return;
    while (b->n > 0 && b->at[b->n - 1].indent >= indent)
        b->n--;
    if (b->n == NESTED_MAX)
        return;
    b->at[b->n].line = number;
    b->at[b->n].indent = indent;
    b->at[b->n++].text = text;
}

/* The line of the innermost loop around a place, within its function; 0: none. */
static uint32_t loop_around(const struct diagnose_input *in, const struct place_in_code *at,
                            struct piece *ret_text)
{
    struct piece rest = text_of_source(find_source(in, piece_of(at->file))), line;
    struct blocks b = { .n = 0 };
    for (uint32_t n = 1; n <= at->line && n < LINES_SEEN && next_line(&rest, &line); n++)
        add_line(&b, n, line, n == at->line);
    for (size_t i = b.n; i > 0; i--) {
        *ret_text = b.at[i - 1].text;
        if (is_loop(*ret_text))
            return b.at[i - 1].line;
        if (is_function(*ret_text))
            break;
    }
    return 0;
}

/* In the innermost function that has one. */
static void describe_loop(const struct diagnose_input *in, const struct diagnosis *d, char *out,
                          size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < d->n_frames && d->frames[i].user; i++) {
        struct piece text;
        const struct place_in_code *at = &d->frames[i].at;
        uint32_t line = loop_around(in, at, &text);
        if (line == 0)
            continue;
        struct piece shown = piece_cut(text, SHOWN);
        if (i > 0)
            (void)snprintf(out, size, ", called in the loop at line %u: %.*s", line, P(shown));
        else if (line == at->line)
            (void)snprintf(out, size, ", which is a loop: %.*s", P(shown));
        else
            (void)snprintf(out, size, ", in the loop at line %u: %.*s", line, P(shown));
        return;
    }
}

void stopped_advise(const struct diagnose_input *in, struct diagnosis *d)
{
    char loop[160], function[128] = "";
    const struct frame *f = &d->frames[0];
    if (!in->whereabouts || d->n_frames == 0 || !f->user)
        return;
    bool waited = in->usage && in->usage->cpu_us < in->usage->wall_us / 10;
    describe_loop(in, d, loop, sizeof loop);
    if (f->function[0] != '<' && f->function[0])
        (void)snprintf(function, sizeof function, " in %.80s", f->function);
    suggest(d, 0, 0.86, "Before it was stopped, it %s at line %u of %s%s%s",
            waited ? "waited" : "was", f->at.line, f->at.file, function, loop[0] ? loop : ".");
}
