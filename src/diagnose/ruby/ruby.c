/* Ruby: reads and explains exceptions, in the forms of 3.1 and later, and syntax errors. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"
#include "diagnose/ruby.words.h" /* generated */

/* ---- the rules ---- */

/* Ruby's own hint: "Did you mean?  upcase". */
static bool advise_meant(const struct advice *a, struct piece name)
{
    struct match m;
    char meant[128];
    if (!match_text(a->g, "^Did you mean\\?  (\\S+)", text_of(a->in), &m))
        return false;
    COPY(m.group[0], meant);
    suggest(a->d, 0, 0.9, "Did you mean `%s`?", meant);
    (void)suggest_swap(a->in, a->d, name, meant);
    return true;
}

static void advise_name(const struct advice *a)
{
    struct piece name = a->m.group[0];
    if (advise_meant(a, name))
        return;
    if (!advise_own_name(a, "Ruby", name, foreign))
        advise_nearest(a);
}

/* A key of the same kind with a similar name: `port:`, `:port =>`, `"port" =>`. */
static void advise_near_key(const struct advice *a, struct piece name, bool symbol)
{
    struct similar near = { .name = name };
    struct match m;
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++)
            for (; line.len > 0 && match(a->g,
                                         symbol ? "(?:([A-Za-z_]\\w*):\\s|:([A-Za-z_]\\w*)\\s*=>)"
                                                : "(?:\"([^\"]+)\"\\s*=>|'([^']+)'\\s*=>)",
                                         line, &m);
                 line = piece_after(line, m.all))
                similar_try(&near, m.group[0].at ? m.group[0] : m.group[1]);
    }
    if (!near.best[0])
        return;
    suggest(a->d, 8, 0.92, "Did you mean %s%s%s? The program has that key.", symbol ? ":" : "\"",
            near.best, symbol ? "" : "\"");
    (void)suggest_swap(a->in, a->d, name, near.best);
}

/* A key that exists as a string and not as a symbol, or the other way round. */
static void advise_key(const struct advice *a)
{
    struct match key;
    char other[3][130];
    if (!match(a->g, "^:(\\w+)$|^\"(\\w+)\"$", a->m.group[0], &key)) {
        return;
    }
    bool symbol = key.group[0].at != NULL;
    struct piece name = symbol ? key.group[0] : key.group[1];
    (void)snprintf(other[0], sizeof other[0],
                   symbol ? "'%.*s' =>" : "%.*s:", P(piece_cut(name, 120)));
    (void)snprintf(other[1], sizeof other[1], symbol ? "\"%.*s\" =>" : ":%.*s =>",
                   P(piece_cut(name, 120)));
    (void)snprintf(other[2], sizeof other[2], symbol ? "\"%.*s\":" : ":%.*s=>",
                   P(piece_cut(name, 120)));
    for (size_t i = 0; i < a->in->n_sources; i++)
        for (size_t k = 0; k < 3; k++)
            if (piece_has(text_of_source(&a->in->sources[i]), other[k])) {
                suggest(a->d, 8, 0.93, "The key is %s: write %s%.*s%s.",
                        symbol ? "a string, not a symbol" : "a symbol, not a string",
                        symbol ? "'" : ":", P(name), symbol ? "'" : "");
                (void)snprintf(other[0], sizeof other[0], "%s%.*s%s", symbol ? "'" : ":",
                               P(piece_cut(name, 120)), symbol ? "'" : "");
                (void)suggest_swap(a->in, a->d, a->m.group[0], other[0]);
                return;
            }
    advise_near_key(a, name, symbol);
}

/* A method does not see the local variables around it. */
static void advise_local(const struct advice *a)
{
    struct piece rest = text_of_source(a->file), line;
    struct match set;
    for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
        if (match(a->g, "^([a-z_]\\w*) = ", line, &set) &&
            piece_same(set.group[0], a->m.group[0]) && n < a->d->location.line) {
            suggest(a->d, 3, 0.92,
                    "A method does not see `%.*s` of line %u: pass it as an argument, or make it a "
                    "constant (%.*s in capitals).",
                    P(a->m.group[0]), n, P(a->m.group[0]));
            return;
        }
    advise_name(a);
}

static void advise_nil(const struct advice *a)
{
    struct piece method = a->m.group[0], line = a->line;
    struct match c;
    char before[100] = "The value before it";
    /* Ruby marks ".strip": that is the call, of several in a line. */
    size_t dot = a->d->location.column;
    bool marked = dot > 1 && piece_at(line, dot) == '.';
    if (!marked)
        dot = has_word(line, method) ? find_word(line, method) : 0;
    /* The receiver of the call: "find(users, "bob").fetch". */
    if (dot > 1 && piece_at(line, dot) == '.' &&
        match(a->g, "((?:@?[\\w.]+|\\((?:[^()]|\\([^()]*\\))*\\)|\\[[^\\]]*\\])+)$",
              piece_before(line, dot), &c))
        (void)snprintf(before, sizeof before, "`%.*s`", P(piece_cut(c.all, 90)));
    if (strcmp(before, "`gets`") == 0 || strcmp(before, "`STDIN.gets`") == 0 ||
        strcmp(before, "`$stdin.gets`") == 0) {
        suggest(a->d, 25, 0.93,
                "gets found no input: give the program standard input (echo TEXT | belljar run "
                "..., --stdin FILE; \"stdin\" in a request), one line for each gets.");
        return;
    }
    suggest(a->d, 0, 0.85,
            "%s is nil there: find out why it has no value, or write `&.%.*s`, which returns nil "
            "for nil.",
            before, P(method));
    char with[100], dotted[100];
    if (marked) {
        suggest_replacement(a->d, "%.*s&%.*s", P(piece_before(line, dot)),
                            P(piece_from(line, dot)));
        return;
    }
    (void)snprintf(with, sizeof with, "&.%.*s", P(piece_cut(method, 90)));
    (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(method, 90)));
    (void)suggest_swap(a->in, a->d, piece_of(dotted), with);
}

static void advise_constant(const struct advice *a)
{
    const char *library = text_for(libraries, a->m.group[0]);
    if (library) {
        suggest(a->d, 0, 0.95, "%.*s is in the library \"%s\": require it first.", P(a->m.group[0]),
                library);
        suggest_replacement(a->d, "require \"%s\"", library);
        return;
    }
    advise_name(a);
}

static void advise_load(const struct advice *a)
{
    struct piece name = piece_base(a->m.group[0]);
    char file[200], best[256];
    (void)snprintf(file, sizeof file, "%.*s.rb", P(piece_cut(name, 190)));
    if (similar_file(a->in, piece_of(file), best, sizeof best)) {
        best[strcspn(best, ".")] = '\0';
        suggest(a->d, 0, 0.9, "Did you mean \"%s\"? The job has no file %s.", best, file);
        suggest_replacement(a->d, "require_relative \"%s\"", best);
    } else if (find_source(a->in, piece_of(file))) {
        suggest(a->d, 0, 0.9,
                "%s is a file of the job: load it with `require_relative`, which looks beside the "
                "program.",
                file);
        suggest_replacement(a->d, "require_relative \"%.*s\"", P(name));
    } else {
        suggest(a->d, 0, 0.8,
                "The gem or file \"%.*s\" is not installed here: use Ruby's own library, or send "
                "the file with the job and use require_relative.",
                P(name));
    }
}

/* The line of the keyword without an `end`. The indentation of the existing `end`s decides. */
static uint32_t unended(struct diagnoser *g, const struct source_file *f, struct piece *ret_word)
{
    struct {
        uint32_t line;
        size_t indent;
        struct piece word;
    } stack[64];
    size_t n = 0;
    struct piece rest = text_of_source(f), line;
    struct match m;
    for (uint32_t at = 1; next_line(&rest, &line); at++) {
        struct match one;
        bool opens =
            match(g,
                  "^\\s*(?:\\w+ *= *)?(def|if|unless|while|until|case|begin|class|module|for)\\b",
                  line, &m) ||
            match(g, "\\b(do)\\b *(?:\\|[^|]*\\|)?\\s*$", line, &m);
        if (opens && !match(g, "\\bend\\s*$|^\\s*def [^=(]+(?:\\([^)]*\\))? = ", line, &one)) {
            if (n == 64)
                return 0;
            stack[n].line = at;
            stack[n].word = m.group[0];
            stack[n++].indent = indent_of(line);
        } else if (!opens && match(g, "^\\s*end\\b", line, &m) && n > 0) {
            n--;
            if (n > 0 && stack[n].indent > indent_of(line)) {
                *ret_word = stack[n].word;
                return stack[n].line;
            }
        }
    }
    if (n == 0)
        return 0;
    *ret_word = stack[n - 1].word;
    return stack[n - 1].line;
}

static void advise_end(const struct advice *a)
{
    struct piece word;
    uint32_t line = unended(a->g, a->file, &word);
    uint32_t foreign_if = 0;
    struct piece rest = text_of_source(a->file), text;
    struct match m;
    for (uint32_t n = 1; !foreign_if && n < LINES_SEEN && next_line(&rest, &text); n++)
        foreign_if = match(a->g, "^\\s*(else\\s+if|elseif|elif)\\b", text, &m) ? n : 0;
    if (foreign_if)
        suggest(a->d, 17, 0.9, "In Ruby the word is `elsif`, and line %u has `%.*s`.", foreign_if,
                P(m.group[0]));
    else if (line > 0)
        suggest(a->d, 0, 0.85, "The `%.*s` on line %u is not closed: add the missing `end`.",
                P(word), line);
    else
        suggest(a->d, 0, 0.6, "A block, method or condition is not closed: add the missing `end`.");
}

/* `h.name` where the hash has the key :name. */
static void advise_hash_item(const struct advice *a)
{
    struct piece name = a->m.group[0];
    char dotted[96], symbol[96];
    if (advise_own_name(a, "Ruby", name, foreign) || advise_meant(a, name))
        return;
    (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(name, 80)));
    (void)snprintf(symbol, sizeof symbol, "%.*s:", P(piece_cut(name, 80)));
    bool by_symbol = piece_has(text_of_source(a->file), symbol);
    suggest(a->d, 5, 0.9, "A Hash has items, no methods for them: write [%s%.*s%s] for .%.*s.",
            by_symbol ? ":" : "\"", P(name), by_symbol ? "" : "\"", P(name));
    (void)snprintf(symbol, sizeof symbol, "[:%.*s]", P(piece_cut(name, 80)));
    if (by_symbol)
        (void)suggest_swap(a->in, a->d, piece_of(dotted), symbol);
}

/* Whether the program defines the method, and in which line. */
static uint32_t defined_in(const struct advice *a, const char *pattern, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
        if (match(a->g, pattern, line, &m) && piece_same(m.group[0], name))
            return n;
    return 0;
}

/* A.name, where `def name` makes it a method of the objects. */
static void advise_class_method(const struct advice *a)
{
    struct piece name = a->m.group[0], class = a->m.group[1].at ? a->m.group[1] : a->m.group[2];
    uint32_t line = defined_in(a, "^\\s*def (\\w+[?!]?)", name);
    if (line)
        suggest(
            a->d, 10, 0.92,
            "`%.*s` (line %u) belongs to the objects of %.*s: make one first, %.*s.new, or write "
            "`def self.%.*s`.",
            P(name), line, P(class), P(class), P(name));
    else
        advise_name(a);
    if (a->d->n_suggestions == 0)
        suggest(a->d, 0, 0.7,
                "The class %.*s has no method `%.*s` of its own: define it, `def "
                "self.%.*s`, or check its name.",
                P(class), P(name), P(name));
}

/* An object of the program's class. */
static void advise_own_method(const struct advice *a)
{
    struct piece name = a->m.group[0], class = a->m.group[1].at ? a->m.group[1] : a->m.group[2];
    char variable[96];
    uint32_t line = defined_in(a, "^\\s*class ([A-Z]\\w*)", class);
    uint32_t fixed = defined_in(a, "^\\s*def self\\.(\\w+[?!]?)", name);
    (void)snprintf(variable, sizeof variable, "@%.*s", P(piece_cut(name, 80)));
    bool writes = piece_has(a->message, "=' for") || piece_has(a->message, "=\" for");
    if (fixed)
        suggest(a->d, 10, 0.92, "`%.*s` (line %u) belongs to the class: call %.*s.%.*s.", P(name),
                fixed, P(class), P(name));
    else if (line && has_word(text_of_source(a->file), piece_of(variable)))
        suggest(a->d, 5, 0.92,
                "Objects of %.*s keep %s to themselves: write `%s :%.*s` in the class (line %u).",
                P(class), variable, writes ? "attr_accessor" : "attr_reader", P(name), line);
    else if (advise_meant(a, name))
        return;
    else if (line)
        suggest(a->d, 5, 0.85,
                "The class %.*s (line %u) defines no `%.*s`: define the method, or check its name.",
                P(class), line, P(name));
    else
        advise_name(a);
}

/* A line that Ruby cannot read, by its shape. */
static void advise_shape(const struct advice *a)
{
    static const struct {
        const char *pattern, *text;
    } shapes[] = {
        { "\\w(?:\\+\\+|--)\\s*;?\\s*$", "Ruby has no `++` and `--`: write `+= 1` or `-= 1`." },
        { "\\belse\\s+if\\b|\\belif\\b|\\belseif\\b", "In Ruby the word is `elsif`." },
        { "^\\s*(?:function|func|fn)\\s+\\w+", "A method is defined with `def name` and `end`." },
        { "^\\s*(?:var|let|const)\\s+\\w+", "Ruby has no declarations: write `name = value`." },
        { "^\\s*import\\s", "A file is loaded with `require \"name\"`." },
        { "^\\s*\\}\\s*(?:else|catch|finally)\\b|^\\s*(?:if|while|for)\\s*\\(.*\\)\\s*\\{",
          "Ruby has no { } around blocks of if and while: end them with `end`." },
        { "^\\s*def \\w+.*:\\s*$|^\\s*(?:if|for|while) .*:\\s*$",
          "Ruby has no ':' at the end of the line: a block ends with `end`." },
        { "^\\s*(?:try|catch)\\b", "Errors are handled with begin, rescue and end." },
        { "\\.\\w+(?:\\([^()]*\\))?\\s+\\|[^|]*\\|\\s*$",
          "A block begins with `do` or `{` before its |names|: `items.each do |x|`." },
        { "^```", "The line is a Markdown fence, not Ruby: remove the ``` lines." },
    };
    struct match m;
    uint32_t from = a->d->location.line > 1 ? a->d->location.line - 1 : 1;
    for (uint32_t n = from; n <= a->d->location.line; n++)
        for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
            if (match(a->g, shapes[i].pattern, source_line(a->file, n), &m)) {
                suggest(a->d, 17, 0.9, "%s%s", shapes[i].text,
                        n < a->d->location.line ? " (in the line before)" : "");
                return;
            }
}

static void advise_extra_end(const struct advice *a)
{
    struct match m;
    for (uint32_t n = a->d->location.line; n > 0 && n + 4 > a->d->location.line; n--)
        if (match(a->g, "^(\\s*)([@$\\w.\\[\\]:]+)(\\+\\+|--)\\s*(?:if\\b.*)?$",
                  source_line(a->file, n), &m)) {
            bool plus = piece_is(m.group[2], "++");
            suggest(a->d, 17, 0.94, "Ruby has no `%.*s`: write `%.*s %s 1` in line %u.",
                    P(m.group[2]), P(m.group[1]), plus ? "+=" : "-=", n);
            return;
        }
    suggest(a->d, 0, 0.85, "There is one `end` too many: remove the one on line %u.",
            a->d->location.line);
}

/* The parser's words after a string that ended at the quote that should begin the next string. */
#define AFTER_QUOTE "unexpected (?:local variable|constant|tIDENTIFIER|tCONSTANT)"

static bool is_open_quote(struct piece line)
{
    unsigned quotes = 0;
    for (size_t i = 0; i < line.len; i++)
        quotes += piece_byte(line, i) == '"' && (i == 0 || piece_byte(line, i - 1) != '\\');
    return quotes % 2 == 1;
}

static void advise_quote(const struct advice *a)
{
    struct piece line = a->line;
    if (!is_open_quote(line)) {
        advise_shape(a);
        return;
    }
    suggest(a->d, 0, 0.85,
            "The string that begins with \" on line %u is not closed: add another \".",
            a->d->location.line);
    suggest_replacement(a->d, "%.*s\"", P(line));
}

static void advise_arguments(const struct advice *a)
{
    struct match c;
    const struct frame *f = NULL;
    for (size_t i = 0; i < a->d->n_frames && !f; i++)
        if (a->d->frames[i].user)
            f = &a->d->frames[i];
    struct piece line = f ? piece_trim(
                                source_line(find_source(a->in, piece_of(f->at.file)), f->at.line))
                          : NO_PIECE;
    if (match(a->g, "^def (.*)", line, &c))
        suggest(a->d, 0, 0.85,
                "`%.*s` takes %.*s arguments, and the call has %.*s: change the call.",
                P(c.group[0]), P(a->m.group[1]), P(a->m.group[0]));
    else
        suggest(a->d, 0, 0.7,
                "The method takes %.*s arguments, and the call has %.*s: change the call.",
                P(a->m.group[1]), P(a->m.group[0]));
}

/* def title=(value) self.title = value end, def title; self.title; end */
static void advise_recursion(const struct advice *a)
{
    struct match def, call;
    uint32_t at = line_above_with(a, "\\bdef\\s+(?:self\\.)?(\\w+)(=?)\\s*(\\(\\s*\\w|\\w)?", &def);
    if (!at || piece_has(def.all, "self."))
        return;
    struct piece name = def.group[0];
    if (def.group[1].len > 0 &&
        match(a->g, "^(.*)\\bself\\.(\\w+)(\\s*=[^=].*)$", a->line, &call) &&
        piece_same(call.group[1], name)) {
        suggest(a->d, 24, 0.95,
                "`self.%.*s = ` calls the method %.*s= (line %u) again, without an end: store the "
                "value in the variable, `@%.*s = `.",
                P(name), P(name), at, P(name));
        suggest_replacement(a->d, "%.*s@%.*s%.*s", P(call.group[0]), P(name), P(call.group[2]));
        return;
    }
    if (def.group[1].len > 0 || def.group[2].at ||
        !match(a->g, "^(\\s*(?:return\\s+)?)(?:self\\.)?(\\w+)\\s*$", a->line, &call) ||
        !piece_same(call.group[1], name))
        return;
    suggest(a->d, 24, 0.95,
            "`%.*s` calls the method %.*s (line %u) again, without an end: return the variable, "
            "`@%.*s`.",
            P(piece_trim(a->line)), P(name), at, P(name));
    suggest_replacement(a->d, "%.*s@%.*s", P(call.group[0]), P(name));
}

#include "diagnose/ruby.rules.h" /* generated */

/* ---- reading ---- */

#define HEAD "^((?:<internal:)?[^\\s:][^:>]*>?):(\\d+):in [`'](.+?)': "

/* The line again and "     ^^^^" below it. */
static void read_caret(struct diagnoser *g, struct piece rest, struct diagnosis *d)
{
    struct piece line, shown = NO_PIECE;
    struct match m;
    for (unsigned n = 0; n < 6 && next_line(&rest, &line); n++) {
        if (match(g, "^( *)(\\^[\\^~]*)\\s*$", line, &m) && shown.len > 0) {
            d->location.column = (uint32_t)m.group[0].len + 1;
            d->location.end_column = d->location.column + (uint32_t)m.group[1].len;
            show_line(d, d->location.line, shown);
            return;
        }
        if (starts_with(line, "\tfrom"))
            return;
        shown = line;
    }
}

/* Reads the frames up to the next exception. That exception is the cause: Ruby prints it after. */
static void read_calls(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                       struct diagnosis *d)
{
    struct piece line;
    struct match m;
    while (next_line(&rest, &line)) {
        if (match(g,
                  "^\\s+(?:\\d+: )?from ((?:<internal:)?[^\\s:][^:>]*>?):(\\d+)(?::in [`'](.+)')?",
                  line, &m)) {
            if (d->n_causes == 0)
                add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
        } else if (match(g, HEAD "(.*?) \\(([A-Z][\\w:]*)\\)$", line, &m)) {
            struct cause *c = add_cause(d);
            if (!c)
                return;
            COPY(m.group[4], c->type);
            COPY(m.group[3], c->message);
            (void)set_place(in, &c->at, m.group[0], m.group[1], NO_PIECE);
        }
    }
}

static bool read_exception(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        bool whole = match(g, HEAD "(.*) \\(([A-Z][\\w:]*)\\)$", line, &m);
        if (!whole && !match(g, HEAD "(.*)$", line, &m))
            continue;
        struct piece after = rest, more;
        /* A line without the type is the first line of a longer message, or a warning. */
        struct match end;
        if (!whole && (starts_with(m.group[3], "warning: ") ||
                       !(piece_is(m.group[3], "unhandled exception") ||
                         match_text(g, "^(?:\tfrom |.* \\([A-Z][\\w:]*(?:Error|Exception)\\)$)",
                                    after, &end))))
            continue;
        COPY(m.group[3], d->message);
        COPY(whole ? m.group[4] : PIECE("RuntimeError"), d->type);
        while (!whole && next_line(&after, &more) && !starts_with(more, "\t"))
            if (match(g, "\\(([A-Z][\\w:]*)\\)$", more, &end))
                COPY(end.group[0], d->type);
        add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
        read_calls(g, in, rest, d);
        locate_by_frames(d);
        if (d->frames[0].user &&
            set_place(in, &(struct place_in_code){ 0 }, m.group[0], m.group[1], NO_PIECE))
            read_caret(g, rest, d);
        return true;
    }
    return false;
}

/* The location becomes the line where the string opens that a later quote ended. */
static void find_open_quote(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    for (uint32_t n = d->location.line; f && n > 1 && n + LINES_NEAR > d->location.line; n--) {
        if (!is_open_quote(source_line(f, n - 1)))
            continue;
        d->location = (struct place_in_code){ .line = n - 1 };
        COPY(piece_of(f->name), d->location.file);
        point_at(in, d, PIECE("\""));
        return;
    }
}

static bool read_syntax(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g, "^(?:[\\w./-]+: |-e:\\d+:in .*?: )?([^\\s:][^:]*):(\\d+): (.*)$", line, &m) ||
            (!piece_has(m.group[2], "syntax error") && !piece_has(m.group[2], "unterminated") &&
             !piece_has(m.group[2], "(SyntaxError)")))
            continue;
        (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
        COPY(m.group[2], d->message);
        COPY(PIECE("SyntaxError"), d->type);
        read_caret(g, rest, d);
        struct match at;
        /* From Ruby 3.4: "    | ^ unexpected ..." below the line. */
        if (match_text(g, "^\\s*\\|\\s+\\^[~^]* +(.*)$", rest, &at)) {
            size_t used = strlen(d->message);
            (void)snprintf(d->message + used, sizeof d->message - used, ": %.*s", P(at.group[0]));
        }
        if (match(g, AFTER_QUOTE, piece_of(d->message), &at) &&
            !piece_has(piece_of(d->message), "expecting ')'"))
            find_open_quote(in, d);
        return true;
    }
    return false;
}

/* The log of Rails: "NoMethodError (undefined method ...):", a blank line, and frames of the
 * application. */
static bool read_rails(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    if (!match_next(g,
                    "(?:^|: |\\] |  )([A-Z][\\w:]*(?:Error|Exception|NotFound|Invalid|Missing)) "
                    "\\((.+)\\):\\s*$",
                    &rest, &m))
        return false;
    COPY(m.group[0], d->type);
    COPY(m.group[1], d->message);
    for (unsigned n = 0; n < LINES_NEAR && next_line(&rest, &line); n++)
        if (match(g, "^(?:\\[[\\w-]+\\] )?\\s*([\\w./-]+\\.(?:rb|erb)):(\\d+):in [`'](.+)'", line,
                  &m))
            add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
    locate_by_frames(d);
    return d->n_frames > 0;
}

static bool read_ruby(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    if (!read_syntax(g, in, d) && !read_exception(g, in, d) && !read_rails(g, in, d))
        return false;
    if (!classify(g, d, rules))
        d->category = CATEGORY_RUNTIME;
    /* The called method reports wrong arguments; the location is the call. */
    struct match m;
    if (match(g, "^(?:wrong number of arguments|missing keyword|unknown keyword)",
              piece_of(d->message), &m) &&
        d->n_frames > 1 && d->frames[1].user)
        d->location = d->frames[1].at;
    if (d->category == CATEGORY_SYNTAX && piece_has(piece_of(d->message), "expecting ')'")) {
        d->location.column = d->location.end_column = 0;
        go_back_to_statement(in, d);
    }
    return true;
}

static void advise_ruby(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, rules);
}

const struct grammar grammar_ruby = { .name = "ruby", .read = read_ruby, .advise = advise_ruby };
