/* Bash and zsh: reads and explains errors of the shell itself, or else of a command. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"
#include "diagnose/shell.words.h" /* generated */

static void set_kind(struct diagnosis *d, struct piece message)
{
    d->category = CATEGORY_RUNTIME;
    d->type[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (piece_has(message, kinds[i].words)) {
            COPY(piece_of(kinds[i].type), d->type);
            d->category = kinds[i].category;
            return;
        }
}

/* The line may be that of an earlier cell, which defined a function: the shell of a session reads all
 * cells from one file. */
static void check_line_of_cell(struct diagnoser *g, const struct diagnose_input *in,
                               struct diagnosis *d)
{
    struct match m;
    struct piece line = line_at(in, d);
    if (in->is_cell && match(g, "^(?:exec: )?([^\\s:]+): ", piece_of(d->message), &m) &&
        find_word(line, m.group[0]) == line.len)
        d->location = (struct place_in_code){ 0 };
}

static void set_error(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                      const struct match *m)
{
    COPY(m->group[2], d->message);
    (void)set_place(in, &d->location, m->group[0], m->group[1], NO_PIECE);
    check_line_of_cell(g, in, d);
    set_kind(d, m->group[2]);
}

static bool names_a_script(const struct diagnose_input *in, struct piece file)
{
    struct place_in_code p;
    return (in->n_sources == 0 && in->main_name == NULL) ||
           set_place(in, &p, file, NO_PIECE, NO_PIECE);
}

/* "F: line N: message", "F: eval: line N: message", "F:N: message", "F:builtin:N: message". */
static bool read_line(struct diagnoser *g, const struct diagnose_input *in, struct piece line,
                      struct match *m)
{
    if (match(g, "^([^:\\s][^:]*): (?:[\\w -]+: )?line (\\d+): (.+)$", line, m))
        return names_a_script(in, m->group[0]);
    return match(g, "^([^:\\s][^:]*?)(?::[a-z]+)?:(\\d+): (.+)$", line, m) &&
           names_a_script(in, m->group[0]);
}

/* zsh reports an error inside a function as "FUNCTION:N:", N lines after its first line. False when
 * there is no such function. */
static bool place_in_function(struct diagnoser *g, const struct diagnose_input *in,
                              const struct match *reported, struct diagnosis *d)
{
    for (size_t i = 0; i < in->n_sources; i++) {
        struct piece rest = text_of_source(&in->sources[i]), line;
        struct match m;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
            if (!match(g, "^\\s*(?:function\\s+)?([\\w.-]+)\\s*(?:\\(\\)|\\{|$)", line, &m) ||
                !piece_same(m.group[0], reported->group[0]))
                continue;
            COPY(piece_of(in->sources[i].name), d->location.file);
            d->location.line = n + piece_number(reported->group[1]);
            return true;
        }
    }
    return false;
}

/* The shell reports a loop that reads a file in its first line; the file is named in its last
 * line. */
static void go_to_redirect(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    struct match m;
    struct piece begin = source_line(f, d->location.line);
    if (!match(g, "^\\s*(?:while|until|for)\\b[^<]*$", begin, &m))
        return;
    for (uint32_t n = d->location.line + 1; n < d->location.line + LINES_NEAR; n++) {
        struct piece line = source_line(f, n);
        if (match(g, "^\\s*done\\b", line, &m) && indent_of(line) == indent_of(begin)) {
            if (piece_has(line, "<"))
                d->location.line = n;
            return;
        }
    }
}

static bool read_in_function(struct diagnoser *g, const struct diagnose_input *in,
                             struct piece line, struct diagnosis *d)
{
    struct match m;
    struct diagnosis other = *d;
    if (!match(g, "^([\\w.-]+)(?::[a-z]+)?:(\\d+): (.+)$", line, &m) ||
        !place_in_function(g, in, &m, &other))
        return false;
    *d = other;
    COPY(m.group[2], d->message);
    set_kind(d, m.group[2]);
    if (d->category == CATEGORY_IO)
        go_to_redirect(g, in, d);
    return true;
}

/* The line of the script that probably runs the command; 0 when there is none. */
static uint32_t line_of_command(struct diagnoser *g, const struct diagnose_input *in,
                                struct piece command, struct piece message)
{
    const struct source_file *f = in->main_name   ? find_source(in, piece_of(in->main_name))
                                  : in->n_sources ? &in->sources[0]
                                                  : NULL;
    struct piece rest = whole_source(f), line;
    uint32_t best = 0;
    int best_score = 0;
    char name[64];
    COPY(command, name);
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct match m;
        struct piece words = message;
        int score = 1;
        if (starts_with(piece_trim(line), "#") || !piece_has(line, name))
            continue;
        while (match(g, "([\\w./-]{3,})", words, &m)) {
            char word[128];
            COPY(m.group[0], word);
            score += piece_has(line, word) ? 2 : 0;
            words = piece_after(words, m.all);
        }
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

static bool read_installer(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct match m;
    for (size_t i = 0; installing[i].word; i++) {
        if (!match_text(g, installing[i].word, text_of(in), &m))
            continue;
        struct piece reported = piece_skip(text_of(in), piece_offset(text_of(in), m.all)), line;
        (void)next_line(&reported, &line);
        uint32_t at = line_of_command(g, in, piece_of(installing[i].text), PIECE("install"));
        if (at == 0)
            continue;
        COPY(line, d->message);
        COPY(PIECE("install"), d->type);
        d->category = CATEGORY_PERMISSION;
        COPY(piece_of(in->main_name ? in->main_name : in->sources[0].name), d->location.file);
        d->location.line = at;
        return true;
    }
    return false;
}

/* An error of a command: "cat: x: No such file or directory". */
static bool read_command(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    if (read_installer(g, in, d))
        return true;
    for (int i = 0; i < 32 && last_line(&rest, &line); i++) {
        if (!match(g, "^(?:/[\\w/.-]*/)?([a-zA-Z][\\w.+-]*): (.+)$", line, &m))
            continue;
        uint32_t at = line_of_command(g, in, m.group[0], m.group[1]);
        set_kind(d, m.group[1]);
        if (at == 0 && !d->type[0])
            continue;
        COPY(line, d->message);
        if (!d->type[0])
            COPY(m.group[0], d->type);
        if (at && in->main_name) {
            COPY(piece_of(in->main_name), d->location.file);
            d->location.line = at;
            point_at(in, d, m.group[0]);
        }
        return true;
    }
    return false;
}

/* The first syntax error stops a script; of other errors, the last one ended it. */
static bool shell_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, after = NO_PIECE;
    struct match m;
    bool found = false;
    while (next_line(&rest, &line)) {
        if (!read_line(g, in, line, &m)) {
            if (read_in_function(g, in, line, d)) {
                after = rest;
                found = true;
            }
            continue;
        }
        if (found && d->category == CATEGORY_SYNTAX && strcmp(d->type, "syntax error") == 0)
            continue;
        if (starts_with(m.group[2], "warning:"))
            continue;
        set_error(g, in, d, &m);
        after = rest;
        found = true;
    }
    if (!found)
        return read_command(g, in, d);
    /* A command that failed after the shell's last message is nearer to the end. */
    if (strcmp(d->type, "syntax error") != 0 && piece_trim(after).len > 0) {
        struct diagnose_input tail = *in;
        struct diagnosis *other = d;
        struct diagnosis before = *d;
        tail.text = piece_bytes(after);
        tail.len = after.len;
        if (!read_command(g, &tail, other) || other->location.line == 0)
            *d = before;
    }
    if (match(g, "^(?:exec: )?([^\\s:]+): ", piece_of(d->message), &m))
        point_at(in, d, m.group[0]);
    return true;
}

/* ---- the rules ---- */

static void suggest_name(const struct advice *a, struct piece name)
{
    struct similar n = { .name = name };
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "^\\s*(?:function\\s+)?([\\w-]+)\\s*\\(\\)", line, &m) ||
            match(a->g, "^\\s*function\\s+([\\w-]+)", line, &m))
            similar_try(&n, m.group[0]);
    similar_try_list(&n, commands);
    if (!n.best[0]) {
        suggest(a->d, 39, 0.8,
                "There is no program '%.*s' in this jar, because it is not installed in the host's "
                "/usr: install it there. A function must be defined above the line that calls it.",
                P(name));
        a->d->sandbox = a->in->sealed;
        return;
    }
    suggest(a->d, 39, 0.92, "Did you mean '%s'?", n.best);
    (void)suggest_swap(a->in, a->d, name, n.best);
}

static bool on_assignment(const struct advice *a, struct piece name)
{
    struct match m;
    if (match(a->g, "^(\\s*)([A-Za-z_]\\w*)\\s+=\\s*(.*)$", a->line, &m) &&
        piece_same(m.group[1], name)) {
        suggest(a->d, 0, 0.96, "An assignment has no spaces around '=': remove them.");
        suggest_replacement(a->d, "%.*s%.*s=%.*s", P(m.group[0]), P(name), P(m.group[2]));
        return true;
    }
    if (match(a->g, "^(\\s*)\\$(\\w+)=(.*)$", a->line, &m)) {
        suggest(a->d, 0, 0.95, "An assignment uses the name without '$': remove it.");
        suggest_replacement(a->d, "%.*s%.*s=%.*s", P(m.group[0]), P(m.group[1]), P(m.group[2]));
        return true;
    }
    return false;
}

static bool defined_below(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if ((match(a->g, "^\\s*(?:function\\s+)?([\\w-]+)\\s*\\(\\)", line, &m) ||
             match(a->g, "^\\s*function\\s+([\\w-]+)", line, &m)) &&
            piece_same(m.group[0], name)) {
            suggest(
                a->d, 39, 0.93,
                "The function '%.*s' is defined in line %u: move it above the line that calls it.",
                P(name), i);
            return true;
        }
    return false;
}

static bool has_fence(const struct advice *a)
{
    struct piece rest = text_of_source(a->file), line;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (starts_with(line, "```")) {
            suggest(a->d, 20, 0.96, "Line %u is a Markdown fence: remove the ``` lines.", i);
            return true;
        }
    return false;
}

/* Commands that a jar never has. */
static bool by_policy(const struct advice *a, struct piece name)
{
    if (a->in->allow_commands && a->in->allow_commands[0]) {
        bool listed = false;
        for (char *const *c = a->in->allow_commands; *c; c++)
            listed = listed || piece_is(name, *c);
        if (!listed && piece_among(name, commands)) {
            suggest(a->d, 39, 0.95,
                    "'%.*s' is not among the commands that this run may execute: add "
                    "--allow-command %.*s (a row of \"allow_commands\" in a request).",
                    P(name), P(name));
            a->d->sandbox = true;
            a->d->category = CATEGORY_SANDBOX;
            return true;
        }
    }
    if (piece_is(name, "sudo")) {
        suggest(a->d, 39, 0.95, "A jar gives no privileges and has no sudo: remove it.");
        a->d->sandbox = a->in->sealed;
        return true;
    }
    if (piece_among(name, installers)) {
        suggest(a->d, 39, 0.93,
                "A program cannot install packages in a jar (%sa read-only /usr): install them on "
                "the host, and jars will see them.",
                a->in->has_network ? "" : "no network, ");
        a->d->sandbox = a->in->sealed;
        return true;
    }
    if (piece_among(name, fetchers)) {
        suggest(a->d, 39, 0.93,
                a->in->has_network
                    ? "'%.*s' is not installed here: install it on the host, fetch the data from a "
                      "program of another language, or send it with the run."
                    : "'%.*s' is not installed here, and this run has no network anyway: fetch the "
                      "data outside and send it with the run.",
                P(name));
        a->d->sandbox = a->in->sealed;
        return true;
    }
    return false;
}

static void on_install(const struct advice *a)
{
    if (strcmp(a->d->type, "install") == 0)
        (void)by_policy(a, PIECE("apt-get"));
}

static void on_not_found(const struct advice *a)
{
    struct piece name = a->m.group[0].at ? a->m.group[0] : a->m.group[1];
    if (piece_has(a->message, "\\r") || piece_has(name, "\r")) {
        suggest(
            a->d, 0, 0.96,
            "The lines have Windows line ends (CR LF): remove the CRs (sed 's/\\r$//', dos2unix).");
        return;
    }
    if (starts_with(name, "```")) {
        suggest(a->d, 20, 0.97, "Line %u is a Markdown fence: remove the ``` lines.",
                a->d->location.line);
        return;
    }
    if (has_fence(a) || on_assignment(a, name) || defined_below(a, name))
        return;
    struct match m;
    if (match(a->g, "\\bif\\s+\\[\\S|\\[\\[?\\$|(?:^|\\s)\\[\\[?[^\\s\\[]", a->line, &m) &&
        starts_with(name, "[")) {
        suggest(a->d, 0, 0.95, "'[' is a command: put a space after it, and one before the ']'.");
        return;
    }
    if (by_policy(a, name))
        return;
    const char *instead = text_for(stand_ins, name);
    if (instead)
        suggest(a->d, 39, 0.9, "There is no '%.*s' here: use %s.", P(name), instead);
    else
        suggest_name(a, name);
}

/* The block that is open at the end of the file. */
static uint32_t open_block(const struct advice *a, char *word, size_t size)
{
    enum { DEPTH = 64 };
    struct {
        uint32_t line;
        const char *end;
    } open[DEPTH];
    static const struct {
        const char *begin, *end;
    } blocks[] = { { "if", "fi" },      { "for", "done" },  { "while", "done" },
                   { "until", "done" }, { "case", "esac" }, { "{", "}" } };
    size_t depth = 0;
    struct piece rest = text_of_source(a->file), line;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct match m;
        struct piece left = line;
        while (match(a->g,
                     "(?:^|[\\s;])(if|for|while|until|case|fi|done|esac|\\{|\\}|#.*)(?=$|[\\s;])",
                     left, &m)) {
            if (starts_with(m.group[0], "#"))
                break;
            for (size_t k = 0; k < ARRAY_LEN(blocks); k++)
                if (piece_is(m.group[0], blocks[k].begin) && depth < DEPTH) {
                    open[depth].line = i;
                    open[depth++].end = blocks[k].end;
                    (void)snprintf(word, size, "%s", blocks[k].begin);
                }
            if (depth > 0 && piece_is(m.group[0], open[depth - 1].end))
                depth--;
            left = piece_after(left, m.group[0]);
        }
    }
    if (depth == 0)
        return 0;
    (void)snprintf(word, size, "%s", open[depth - 1].end);
    return open[depth - 1].line;
}

/* A quote or bracket that is never closed. */
static bool is_open_text(const struct advice *a)
{
    struct match m;
    if (match(a->g, "looking for matching `(.)'", a->message, &m)) {
        char quote = piece_byte(m.group[0], 0); /* the shell reports a bracket where it opens */
        uint32_t opened = strchr("\"'`", quote)
                              ? open_quote_before(a->file, quote, a->d->location.line)
                              : 0;
        if (opened)
            suggest(a->d, 18, 0.93,
                    "Line %u has a %.*s without its partner, so that all quotes up to line %u are "
                    "read the wrong way: close it.",
                    opened, P(m.group[0]), a->d->location.line);
        else if (quote == ')' || quote == '}' || quote == ']')
            suggest(a->d, 18, 0.92,
                    "A bracket that opens in line %u or before it has no '%.*s': close it.",
                    a->d->location.line, P(m.group[0]));
        else
            suggest(a->d, 18, 0.92, "The %.*s that opens in line %u is not closed: close it.",
                    P(m.group[0]), a->d->location.line);
        return true;
    }
    if (match(a->g, "unmatched (.)", a->message, &m)) {
        suggest(a->d, 18, 0.9, "A %.*s is not closed: close it.", P(m.group[0]));
        return true;
    }
    return false;
}

/* `for x in ...` or `while ...` above this line, and no `do` behind it; 0 when there is none. */
static uint32_t loop_without_do(const struct advice *a)
{
    struct match m;
    uint32_t above = a->d->location.line;
    for (unsigned n = 0; n < 2 && above > 1; n++) {
        struct piece line = source_line(a->file, n == 0 ? above : above - 1);
        if (match(a->g, "^\\s*(?:for|while|until)\\b", line, &m) &&
            !match(a->g, "\\bdo\\b", line, &m) &&
            !(n == 1 && match(a->g, "^\\s*do\\b", source_line(a->file, above), &m)))
            return n == 0 ? above : above - 1;
    }
    return 0;
}

/* A pattern of a `case` stands here, and the branch above it has no `;;`. The line that lacks it; 0 when this is
 * not so. */
static uint32_t branch_without_end(const struct advice *a)
{
    struct match m;
    uint32_t here = a->d->location.line, last = 0, inner = 0;
    if (!match(a->g, "^\\s*\\(?[^()]+\\)", a->line, &m))
        return 0;
    for (uint32_t n = here; n-- > 1 && here - n < LINES_NEAR;) {
        struct piece line = piece_trim_end(source_line(a->file, n));
        if (piece_trim(line).len == 0 || starts_with(piece_trim(line), "#"))
            continue;
        if (!last && (ends_with(line, ";;") || ends_with(line, ";&") || ends_with(line, ";;&") ||
                      match(a->g, "\\bin$", line, &m)))
            return 0;
        last = last ? last : n;
        inner += match(a->g, "^\\s*esac\\b", line, &m);
        if (match(a->g, "^\\s*case\\b.*\\bin\\b", line, &m) && inner-- == 0)
            return last;
    }
    return 0;
}

/* An unexpected token. `line` and `word`: the line of the open block, and the word that ends it. */
static void on_token(const struct advice *a, struct piece token, uint32_t line, const char *word)
{
    uint32_t head = loop_without_do(a);
    struct match m;
    if (head)
        suggest(a->d, 17, 0.92, "The loop in line %u has no `do`: write `...; do` at its end.",
                head);
    else if (piece_is(token, "|") || piece_is(token, "||") || piece_is(token, "&&") ||
             piece_is(token, "&"))
        suggest(a->d, 17, 0.88,
                "A command is missing before this '%.*s': add it, or remove the '%.*s'.", P(token),
                P(token));
    else if (line_above_with(a, "^\\s*(?:else ?if|elseif|elsif)\\b", &m))
        suggest(a->d, 17, 0.93, "The word is `elif`: write `elif ...; then`.");
    else if ((piece_is(token, "else") || piece_is(token, "fi") || piece_is(token, "elif")) &&
             line_above_with(a, "^\\s*(?:if|elif)\\b.*\\]\\]?\\s+then\\s*$", &m))
        suggest(a->d, 17, 0.94, "A ';' is missing before `then`: write `if [ ... ]; then`.");
    else if (piece_is(token, "else") || piece_is(token, "fi") || piece_is(token, "elif"))
        suggest(a->d, 17, 0.85,
                "The `if` before it has no `then`, or no command after it: write `if ...; then`.");
    else if (piece_is(token, "done"))
        suggest(a->d, 17, 0.85,
                "The loop before it has no `do`, or no command after it: write `for ...; do`.");
    else if (line && piece_is(token, "}") && strcmp(word, "}") != 0)
        suggest(a->d, 18, 0.92,
                "The block that opens in line %u has no '%s' before this '}': add it.", line, word);
    else if (piece_is(token, "}") || piece_is(token, "{"))
        suggest(a->d, 18, 0.8,
                "The braces do not match: a function is `name() {` ... `}`, each on a line or "
                "after ';'.");
    else if (piece_is(token, "(") && match(a->g, "\\bfor\\s+\\(\\s*\\w*\\s*=?[^()]*;", a->line, &m))
        suggest(a->d, 17, 0.94, "A loop that counts has two brackets: for ((i=0; i<3; i++)); do.");
    else if (piece_is(token, ")") && branch_without_end(a))
        suggest(a->d, 18, 0.94,
                "A branch of the `case` ends in line %u without `;;`, so this line is read as a "
                "command: write `;;` before it.",
                branch_without_end(a));
    else if (piece_is(token, "("))
        suggest(a->d, 18, 0.8, "Quote a '(' in a word; a function is `name() { ...; }`.");
    else if (piece_is(token, ")"))
        suggest(a->d, 18, 0.8, "No '(' fits this ')': remove it, or quote it if it is text.");
    else
        suggest(a->d, 17, 0.7,
                "The shell did not expect '%.*s' here: a `then`, `do` or ';' is missing before it, "
                "or a quote is open.",
                P(token));
}

/* Whether the line has [key]= with the key, in quotes or without. */
static bool has_key(const struct advice *a, struct piece line, struct piece key)
{
    struct match m;
    while (line.len > 0 && match(a->g, "\\[\\s*[\"']?([^\\]\"']*)[\"']?\\s*\\]=", line, &m)) {
        if (piece_same(piece_trim(m.group[0]), key))
            return true;
        line = piece_after(line, m.all);
    }
    return false;
}

/* ["tea.green"]=18 in an array that was not declared as one with texts as keys. */
static bool is_undeclared_map(const struct advice *a, struct piece key)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "\\b(\\w+)=\\(|\\b(\\w+)\\[[^\\]]*\\]=|\\[[^\\]]*\\]=", line, &m) &&
            piece_has(line, "[") && has_key(a, line, key)) {
            struct piece name = m.group[0].at ? m.group[0] : m.group[1];
            bool local = match(a->g, "^\\s*(?:local|declare|typeset)\\b", line, &m);
            if (match(a->g, "(?:local|declare|typeset)\\s+-\\w*A", line, &m) || !name.at)
                return false;
            suggest(
                a->d, 0, 0.93,
                "The keys of the array '%.*s' (line %u) are texts, and without a declaration they "
                "are calculated as numbers: write %s -A %.*s before its first use.",
                P(name), i, local ? "local" : "declare", P(name));
            return true;
        }
    return false;
}

/* Text in a place where the shell calculates. */
static bool is_calculation(const struct advice *a)
{
    struct match m;
    if (!match(a->g, "^(?:.*: )?([^:]+?)\\s*: (?:(?:arithmetic )?syntax error|division by 0)",
               a->message, &m))
        return false;
    struct piece text = piece_trim(m.group[0]);
    if (is_undeclared_map(a, text))
        return true;
    if (!piece_has(a->message, "invalid arithmetic operator"))
        return false;
    if (match(a->g, "(?:^|[^\\w.])\\d*\\.\\d+(?:$|[^\\w.])", text, &m) &&
        piece_has(a->message, "error token is \"."))
        suggest(
            a->d, 13, 0.94,
            "The shell calculates with whole numbers alone, and '%.*s' has a fraction: calculate "
            "in the smaller unit (cents), or with awk, $(awk \"BEGIN { print $a * $b }\").",
            P(text));
    else
        suggest(
            a->d, 13, 0.88,
            "The shell calculates with whole numbers here, and '%.*s' is not one: check the value, "
            "and compare texts with [[ \"$a\" = \"$b\" ]].",
            P(text));
    return true;
}

/* A '/' in the key of an array that was not declared divides. */
static void on_division(const struct advice *a)
{
    (void)is_calculation(a);
}

static void on_syntax(const struct advice *a)
{
    char word[16] = "";
    struct match m;
    if (has_fence(a) || is_calculation(a))
        return;
    if (is_open_text(a))
        return;
    if (match_text(a->g,
                   "here-document at line (\\d+) delimited by end-of-file \\(wanted `(.+?)'\\)",
                   text_of(a->in), &m)) {
        suggest(a->d, 18, 0.94,
                "The text that begins with << in line %.*s has no end: add a line with only %.*s, "
                "without spaces before it (<<- allows tabs).",
                P(m.group[0]), P(m.group[1]));
        return;
    }
    uint32_t line = open_block(a, word, sizeof word);
    uint32_t bracket = unclosed(a->file, '(', ')');
    if (bracket && bracket < a->d->location.line) {
        suggest(a->d, 18, 0.88, "The '(' of line %u is not closed before this line: close it.",
                bracket);
        return;
    }
    if (piece_has(a->message, "end of file") || piece_has(a->message, "near `\\n'")) {
        if (line)
            suggest(a->d, 18, 0.93, "The block that opens in line %u has no '%s': add it.", line,
                    word);
        else
            suggest(a->d, 18, 0.7,
                    "A block or quote is not closed: an if needs its fi, a loop its done, a quote "
                    "its partner.");
        return;
    }
    if (match(a->g, "(?:token|near) `(.+?)'", a->message, &m))
        on_token(a, m.group[0], line, word);
}

static void on_unbound(const struct advice *a)
{
    struct piece name = a->m.group[0];
    char best[128];
    if (name.len == 1 && piece_byte(name, 0) >= '0' && piece_byte(name, 0) <= '9') {
        suggest(
            a->d, 3, 0.92,
            "The script was given too few arguments: they follow it on the command line (belljar "
            "run FILE -- A B), and are \"args\" in a request; ${%.*s:-default} gives one.",
            P(name));
        return;
    }
    if (similar_name(a->in, name, NULL, best, sizeof best)) {
        suggest(a->d, 3, 0.9,
                "Did you mean '%s'? With set -u a variable must have a value before it is used.",
                best);
        (void)suggest_swap(a->in, a->d, name, best);
    } else
        suggest(a->d, 3, 0.85,
                "With set -u a variable must have a value before it is used: give it one, pass it "
                "(--env %.*s=VALUE), or a default, ${%.*s:-}.",
                P(name), P(name));
}

static void on_no_number(const struct advice *a)
{
    struct match m;
    bool named = match(a->g, "\\[: (\\S.*?): integer", a->message, &m);
    suggest(a->d, 13, 0.92,
            "%s%.*s%s is not a number: -eq, -lt, -gt compare whole numbers; = and != compare text. "
            "An empty variable is not a number either (${x:-0}).",
            named ? "'" : "", P(named ? m.group[0] : PIECE("One side")), named ? "'" : "");
}

static void on_test(const struct advice *a)
{
    if (piece_has(a->message, "missing `]'") || piece_has(a->message, "']' expected"))
        suggest(a->d, 18, 0.93,
                "The ']' needs a space before it, and a ';' or a new line before `then`.");
    else if (piece_has(a->message, "integer expression"))
        on_no_number(a);
    else
        suggest(
            a->d, 0, 0.93,
            "A variable is empty or holds spaces: quote it, [ \"$x\" = ... ], or use [[ ... ]].");
}

static void on_no_file(const struct advice *a)
{
    struct match m;
    struct piece path = NO_PIECE;
    if (match(a->g, "['\u2018]([^'\u2019]+)['\u2019]?: No such file", a->message, &m) ||
        match(a->g, "(?:^|: )([^\\s:]+): [Nn]o such file", a->message, &m) ||
        match(a->g, "no such file or directory: (\\S+)", a->message, &m) ||
        match(a->g, "'([^']+)'", a->message, &m))
        path = m.group[0];
    if (!path.at)
        return;
    struct piece base = piece_base(path);
    struct similar n = { .name = base };
    for (size_t i = 0; i < a->in->n_sources; i++)
        similar_try(&n, piece_of(a->in->sources[i].name));
    if (n.best[0]) {
        suggest(a->d, 22, 0.92, "Did you mean '%s'? That file is beside the script.", n.best);
        (void)suggest_swap(a->in, a->d, path, n.best);
    } else {
        suggest(a->d, 22, 0.85,
                "There is no '%.*s' in /sandbox, where the script starts: send the file with the "
                "run (--file, \"files\" in a request).",
                P(path));
    }
}

#include "diagnose/shell.rules.h" /* generated */

static void shell_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct advice a;
    bool zsh = in->language && strcmp(in->language, "zsh") == 0;
    advice_begin(&a, g, in, d);
    advice_use_own_error(&a);
    COPY(piece_of(zsh ? "https://zsh.sourceforge.io/Doc/Release/"
                      : "https://www.gnu.org/software/bash/manual/bash.html"),
         d->docs);
    rules_apply(&a, rules, FIRST_RULE);
}

const struct grammar grammar_shell = { "shell", { "bash", "zsh", "sh" }, shell_read, shell_advise };
