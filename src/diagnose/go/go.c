/* Go: reads and explains errors of its compiler, vet, linker and runtime. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/core/rules.h"
#include "diagnose/go.words.h" /* generated */

/* ---- names ---- */

static const char *package_by_name(struct piece name)
{
    for (const char *const *p = packages; *p; p++)
        if (piece_same(piece_base(piece_of(*p)), name))
            return *p;
    return NULL;
}

static void advise_undefined(const struct advice *a)
{
    struct piece name = a->m.group[0], member = a->m.group[1];
    char capital[128], full[200];
    const char *package = package_by_name(name);
    if (member.len > 0 && member.len < sizeof capital && piece_byte(member, 0) >= 'a' &&
        piece_byte(member, 0) <= 'z') {
        COPY(member, capital);
        capital[0] = (char)(capital[0] - 32);
        (void)snprintf(full, sizeof full, "%.*s.%s", P(name), capital);
        suggest(a->d, 0, 0.9,
                "Names that a package exports begin with a capital letter: write `%s`.", full);
        struct piece small = piece_through(name, member);
        (void)suggest_swap(a->in, a->d, small, full);
        (void)snprintf(a->d->docs, sizeof a->d->docs, "https://pkg.go.dev/%.150s",
                       package ? package : "");
        return;
    }
    if (package && member.len == 0) {
        suggest(a->d, 0, 0.9, "`%.*s` is a package: import \"%s\".", P(name), package);
        suggest_replacement(a->d, "import \"%s\"", package);
        (void)snprintf(a->d->docs, sizeof a->d->docs, "https://pkg.go.dev/%s", package);
        return;
    }
    const char *other = member.len == 0 ? text_for(third_party, name) : NULL;
    if (other && piece_at(a->line, find_word(a->line, name) + name.len + 1) == '.') {
        suggest(a->d, 0, 0.9,
                "`%.*s` is a package of another module, %s: import \"%s\". Compilers here have no "
                "network to download it, so add its files to the job, or use the standard library.",
                P(name), other, other);
        return;
    }
    struct advice wrong = *a;
    wrong.m.group[0] = member.len > 0 ? member : name;
    advise_nearest(&wrong);
    struct match c;
    if (a->d->n_suggestions == 0 && member.len == 0 &&
        match(a->g, "^(\\s*)(\\w+)\\s*=\\s*([^=].*)$", a->line, &c) &&
        piece_same(c.group[1], name)) {
        suggest(a->d, 0, 0.9, "`%.*s` is not declared: its first value is given with `:=`.",
                P(name));
        suggest_replacement(a->d, "%.*s%.*s := %.*s", P(c.group[0]), P(c.group[1]), P(c.group[2]));
    }
}

/* `total declared but not used`, and `undefined: totl` in a later line. */
static bool is_misspelt_later(const struct advice *a, struct piece name, char *out, size_t size,
                              uint32_t *ret_line)
{
    struct piece rest = text_of(a->in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(a->g, ":(\\d+):\\d+: undefined: (\\w+)$", line, &m))
            continue;
        struct similar near = { .name = m.group[1] };
        similar_try(&near, name);
        if (!near.best[0])
            continue;
        copy_piece(m.group[1], out, size);
        *ret_line = piece_number(m.group[0]);
        return true;
    }
    return false;
}

static void advise_unused(const struct advice *a)
{
    struct piece name = a->m.group[a->m.group[0].at ? 0 : 1], line = a->line;
    struct match c;
    char meant[128];
    uint32_t where;
    if (is_misspelt_later(a, name, meant, sizeof meant, &where)) {
        suggest(
            a->d, 34, 0.93,
            "Line %u uses `%s`, which is not declared: it may mean `%.*s` of this line. Then both "
            "errors are gone.",
            where, meant, P(name));
        return;
    }
    suggest(a->d, 34, 0.9,
            "Go refuses `%.*s` because no code reads its value: use it, remove it, or assign the "
            "value to `_`.",
            P(name));
    if (match(a->g, "^(\\s*)(\\w+)\\s*:=\\s*(.*)$", line, &c) && piece_same(c.group[1], name))
        suggest_replacement(a->d, "%.*s_ = %.*s", P(c.group[0]), P(c.group[2]));
    else if (match(a->g, "^(\\s*)(.*:=.*)$", line, &c))
        (void)suggest_swap(a->in, a->d, name, "_");
    else if (line.at)
        suggest_replacement(a->d, "%.*s; _ = %.*s", P(line), P(name));
}

/* ---- types ---- */

static void advise_mismatch(const struct advice *a)
{
    struct piece left = a->m.group[0], op = a->m.group[1], right = a->m.group[2];
    struct piece first = a->m.group[3], second = a->m.group[4];
    bool text = piece_has(first, "string") || piece_has(second, "string");
    char whole[160], better[200];
    (void)snprintf(whole, sizeof whole, "%.*s %.*s %.*s", P(left), P(op), P(right));
    if (text) {
        bool last = piece_has(first, "string");
        struct piece other = last ? right : left;
        suggest(a->d, 0, 0.85,
                "A number is not converted to a string automatically: use fmt.Sprint(%.*s), or "
                "strconv.Itoa for an int.",
                P(other));
        (void)snprintf(better, sizeof better,
                       last ? "%.*s %.*s fmt.Sprint(%.*s)" : "fmt.Sprint(%.*s) %.*s %.*s", P(left),
                       P(op), P(right));
    } else {
        /* Converting the integer side loses nothing. */
        bool swap = starts_with(first, "float");
        struct piece type = swap ? first : second, value = swap ? right : left;
        suggest(a->d, 0, 0.85,
                "Go does not convert numbers automatically: `%.*s(%.*s)` makes both sides %.*s.",
                P(type), P(value), P(type));
        if (swap)
            (void)snprintf(better, sizeof better, "%.*s %.*s %.*s(%.*s)", P(left), P(op), P(type),
                           P(right));
        else
            (void)snprintf(better, sizeof better, "%.*s(%.*s) %.*s %.*s", P(type), P(left), P(op),
                           P(right));
    }
    (void)suggest_swap(a->in, a->d, piece_of(whole), better);
}

/* A number is passed where a float64 is taken. */
static void advise_float(const struct advice *a)
{
    char with[80];
    suggest(a->d, 0, 0.92, "Go does not convert numbers automatically: write float64(%.*s).",
            P(a->m.group[0]));
    (void)snprintf(with, sizeof with, "(float64(%.*s)", P(piece_cut(a->m.group[0], 60)));
    char from[70];
    (void)snprintf(from, sizeof from, "(%.*s", P(piece_cut(a->m.group[0], 60)));
    (void)suggest_swap(a->in, a->d, piece_of(from), with);
}

static void advise_number_in_quotes(const struct advice *a)
{
    char quoted[80], number[80];
    COPY(a->m.group[0], quoted);
    suggest(a->d, 0, 0.85,
            "A string is not a %.*s: write the number without quotes, or convert the text with "
            "strconv.Atoi (strconv.ParseFloat).",
            P(a->m.group[1]));
    struct match c;
    if (!match(a->g, "^\"(-?[0-9.]+)\"$", a->m.group[0], &c))
        return;
    COPY(c.group[0], number);
    (void)suggest_swap(a->in, a->d, piece_of(quoted), number);
}

static void advise_two_values(const struct advice *a)
{
    struct match c;
    struct piece line = a->line;
    if (!piece_is(a->m.group[1], "2") || !match(a->g, "^(\\s*\\w+)(\\s*:?=.*)$", line, &c)) {
        suggest(a->d, 0, 0.7,
                "`%.*s` returns %.*s values: name that many variables on the left, `_` for the "
                "values you do not need.",
                P(a->m.group[0]), P(a->m.group[1]));
        return;
    }
    suggest(a->d, 0, 0.9,
            "`%.*s` returns a value and an error: take both, `value, err := ...`, and check err.",
            P(a->m.group[0]));
    suggest_replacement(a->d, "%.*s, err%.*s", P(c.group[0]), P(c.group[1]));
}

static void advise_method(const struct advice *a)
{
    struct match c;
    struct piece method = a->m.group[2];
    if (match(a->g, "(?s)have (\\w+)\\(.*want (\\w+)\\(", a->message, &c)) {
        suggest(a->d, 0, 0.9,
                "`%.*s` has `%.*s`, and the interface needs `%.*s`: only the case of the letters "
                "differs; rename the method.",
                P(a->m.group[0]), P(c.group[0]), P(c.group[1]));
        return;
    }
    if (piece_has(a->message, "pointer receiver")) {
        suggest(a->d, 0, 0.85,
                "The method `%.*s` belongs to *%.*s, the pointer: write `&` before the value "
                "(`&%.*s{...}`) to make it a `%.*s`.",
                P(method), P(a->m.group[0]), P(a->m.group[0]), P(a->m.group[1]));
        return;
    }
    suggest(a->d, 0, 0.8, "Give `%.*s` the method `%.*s`, which `%.*s` needs.", P(a->m.group[0]),
            P(method), P(a->m.group[1]));
}

/* ---- syntax ---- */

static void advise_syntax(const struct advice *a)
{
    advise_brace(a);
    struct piece line = a->line;
    struct match c;
    for (size_t i = 0; foreign[i].word && a->d->n_suggestions == 0; i++)
        if (match(a->g, foreign[i].word, line, &c)) {
            suggest(a->d, 0, 0.85, "Go has no `%.*s`: %s", P(c.group[0]), foreign[i].text);
            return;
        }
    if (a->d->n_suggestions == 0 && piece_has(a->message, "outside function body"))
        advise_outside(a);
}

/* total := 0 between two functions */
static void advise_statement(const struct advice *a)
{
    struct match c;
    if (!outside_at(a->file, a->d->location.line).extra &&
        match(a->g, "^\\s*(\\w+(?:\\s*,\\s*\\w+)*)\\s*:=\\s*(.*)$", a->line, &c)) {
        suggest(a->d, 17, 0.94,
                "`:=` declares only inside of functions: outside, `var` does, `var %.*s = %.*s`.",
                P(piece_cut(c.group[0], 80)), P(piece_cut(c.group[1], 100)));
        suggest_replacement(a->d, "var %.*s = %.*s", P(c.group[0]), P(c.group[1]));
        return;
    }
    advise_outside(a);
}

/* ---- the runtime ---- */

/* doc["count"].(int), where doc was decoded from JSON */
static void advise_number(const struct advice *a)
{
    struct match c;
    char from[130], to[150];
    struct piece type = a->m.group[0];
    bool json = piece_has(text_of_source(a->file), "encoding/json");
    if (!match(a->g, "((?:\\w+\\.)*\\w+(?:\\[[^\\[\\]]*\\])*)\\.\\((\\w+)\\)", a->line, &c) ||
        !piece_same(c.group[1], type) || c.group[0].len > 80)
        return;
    suggest(a->d, 11, 0.93, "%s: take that and convert it, %.*s(%.*s.(float64)).",
            json ? "A number of JSON becomes a float64 in an interface{}"
                 : "The value is a float64",
            P(type), P(c.group[0]));
    (void)snprintf(from, sizeof from, "%.*s", P(c.all));
    (void)snprintf(to, sizeof to, "%.*s(%.*s.(float64))", P(type), P(c.group[0]));
    if (!match(a->g, ",\\s*\\w+\\s*:?=", a->line, &c))
        (void)suggest_swap(a->in, a->d, piece_of(from), to);
}

static void advise_nil_map(const struct advice *a)
{
    struct match c, t;
    char type[100] = "map[string]int", name[64] = "m";
    bool known = false;
    if (!match(a->g, "([\\w.]+)\\[[^\\]]*\\]", a->line, &c)) {
        suggest(a->d, 35, 0.7,
                "A nil map can be read but not written: make it first, make(map[...]...).");
        return;
    }
    COPY(c.group[0], name);
    struct piece rest = text_of_source(a->file), line;
    struct piece field = piece_last_part(c.group[0]); /* store, for c.store */
    while (!known && next_line(&rest, &line))
        if (has_word(line, field) && match(a->g, "(map\\[[^\\]]+\\][\\w.*\\[\\]]+)", line, &t)) {
            COPY(t.group[0], type);
            known = true;
        }
    suggest(
        a->d, 35, 0.9,
        "`%s` is a nil map, which can be read but not written: make it before, `%s = make(%s)`.",
        name, name, known ? type : "map[...]...");
    if (known)
        suggest_replacement(a->d, "%s = make(%s)", name, type);
}

/* The names before a '.', for "n.next.value" both n and n.next. Returns how many are in `out`. */
static unsigned before_dots(const struct advice *a, char *out, size_t size)
{
    struct piece line = a->line;
    struct match c;
    unsigned found = 0;
    for (unsigned i = 0; i < 8 && match(a->g, "\\b([A-Za-z_]\\w*)((?:\\.\\w+)+)", line, &c); i++) {
        line = piece_after(line, c.all);
        for (size_t n = package_by_name(c.group[0]) ? c.all.len : c.group[0].len; n < c.all.len;
             n++) {
            char quoted[96];
            if (piece_byte(c.all, n) != '.' || strlen(out) + n + 8 > size)
                continue;
            (void)snprintf(quoted, sizeof quoted, "`%.*s`", P(piece_cut(c.all, n)));
            if (!strstr(out, quoted))
                append_text(out, size, found++ ? " or " : "", piece_of(quoted));
        }
    }
    return found;
}

static void advise_nil_pointer(const struct advice *a)
{
    struct piece line = a->line;
    char names[160] = "";
    unsigned found = before_dots(a, names, sizeof names);
    bool others = !line.at || piece_has(line, "[") || piece_has(line, "*") || piece_has(line, ").");
    suggest(a->d, 35, 0.85,
            "On this line %s%s is nil: give it a value, or check `!= nil` before using its fields "
            "and methods.",
            found ? names : "a pointer", found && others ? ", or a value in it," : "");
}

static void advise_index(const struct advice *a)
{
    uint32_t length = piece_number(a->m.group[1]);
    struct match c;
    uint32_t loop = line_above_with(a, "^(.*)<=(\\s*len\\(.*)$", &c);
    if (loop)
        suggest(a->d, 0, 0.9,
                "Line %u counts to len() itself, and the last index is len() - 1: write `<` for "
                "`<=`.",
                loop);
    else if (match(a->g, "([\\w.]+)\\[len\\(\\s*([\\w.]+)\\s*\\)\\]", a->line, &c) &&
             piece_same(c.group[0], c.group[1])) {
        char from[160], to[170];
        suggest(a->d, 0, 0.95, "The last index is len() - 1: write %.*s[len(%.*s)-1].",
                P(c.group[0]), P(c.group[0]));
        (void)snprintf(from, sizeof from, "%.*s", P(piece_cut(c.all, 150)));
        (void)snprintf(to, sizeof to, "%.*s[len(%.*s)-1]", P(piece_cut(c.group[0], 70)),
                       P(piece_cut(c.group[0], 70)));
        (void)suggest_swap(a->in, a->d, piece_of(from), to);
    } else if (match(a->g, "\\bos\\.Args\\[(\\d+)\\]", a->line, &c))
        suggest(a->d, 9, 0.93,
                "The program was started without arguments, so os.Args has only its own name: test "
                "len(os.Args) > %.*s first, or "
                "pass the argument.",
                P(c.group[0]));
    else if (starts_with(a->m.group[0], "-"))
        suggest(a->d, 0, 0.9,
                "The index is negative (%.*s): the slice is shorter than the code expects. Check "
                "len() before.",
                P(a->m.group[0]));
    else if (length == 0 && match_text(a->g, "make\\(\\[\\]\\w+, *0,", text_of_source(a->file), &c))
        suggest(a->d, 0, 0.92,
                "The slice has room and no items yet (make with length 0): add with append(), or "
                "make it with its length, "
                "make([]T, n).");
    else if (match_text(a->g, "strings\\.Split", text_of_source(a->file), &c) &&
             piece_is(a->m.group[0], "1"))
        suggest(a->d, 0, 0.9,
                "strings.Split() gives one part when the text has no separator: test len(parts) "
                "before index 1, or use "
                "strings.Cut().");
    else if (length == 0)
        suggest(a->d, 0, 0.8, "The slice is empty: check len() > 0 before index %.*s.",
                P(a->m.group[0]));
    else
        suggest(a->d, 0, 0.85,
                "Index %.*s is past the end: with length %u the last is %u (len - 1). "
                "Check the index "
                "against len() first.",
                P(a->m.group[0]), length, length - 1);
}

static void advise_deadlock(const struct advice *a)
{
    struct match c;
    struct piece state = match_text(a->g, "^goroutine \\d+ \\[([^\\],]+)", text_of(a->in), &c)
                             ? c.group[0]
                             : NO_PIECE;
    if (piece_is(state, "chan send"))
        suggest(a->d, 0, 0.85,
                "It sends on a channel, and no goroutine receives: receive in another goroutine "
                "(go func() { ... }()), or give the channel a buffer, make(chan T, 1).");
    else if (piece_is(state, "chan receive"))
        suggest(a->d, 0, 0.85,
                "It waits for a channel on which no goroutine sends: send from another goroutine, "
                "and close the channel after the last send.");
    else if (starts_with(state, "semacquire") || starts_with(state, "sync"))
        suggest(a->d, 0, 0.8,
                "It waits for a WaitGroup or a Mutex: call Done() once for each Add(1), Unlock() "
                "after each Lock().");
    else
        suggest(a->d, 0, 0.6,
                "Every goroutine waits for another: check the operation that each one waits for.");
}

#include "diagnose/go.rules.h" /* generated */

/* ---- reading ---- */

#define ERROR "^(?:vet: )?([^\\s:][^:]*\\.go):(\\d+):(?:(\\d+):)? (.*)$"

static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, ERROR, rest, &m))
        return false;
    (void)set_place(in, &ret->at, m.group[0], m.group[1], m.group[2]);
    COPY(m.group[3], ret->message);
    struct piece after = *rest;
    if (next_line(&after, &line) && starts_with(line, "\t"))
        APPEND(ret->message, " ", piece_trim(line));
    return true;
}

static bool read_compiler(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(g, "^(?:runtime\\.main_main.*: )(function main is undeclared.*)", line, &m) ||
            match(g, "^(package \\S+ is not (?:a main package|in .*))", line, &m)) {
            COPY(m.group[0], d->message);
            return true;
        }
        if (!match(g, ERROR, line, &m))
            continue;
        (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
        COPY(m.group[3], d->message);
        point_over_word(in, d);
        /* Further lines of the message stand below, indented. */
        while (next_line(&rest, &line) && starts_with(line, "\t"))
            APPEND(d->message, "\n", piece_trim(line));
        read_further(g, in, next_error, d);
        return true;
    }
    return false;
}

static void read_goroutine(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                           struct diagnosis *d)
{
    struct piece line, function = NO_PIECE;
    struct match m;
    bool inside = false;
    while (next_line(&rest, &line)) {
        if (!inside) {
            inside = match(g, "^goroutine \\d+ (?:gp=\\S+ m=\\S+ (?:mp=\\S+ )?)?\\[", line, &m);
            continue;
        }
        if (line.len == 0 || starts_with(line, "created by"))
            return;
        if (match(g, "^\t(.+):(\\d+)(?: \\+0x[0-9a-f]+)?", line, &m))
            add_frame(in, d, m.group[0], m.group[1], NO_PIECE, function);
        else if (match(g, "^(.+?)(?:\\([^()]*\\))?$", line, &m))
            function = m.group[0];
    }
}

static bool read_panic(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g, "^(panic|fatal error): (?:(runtime error): )?(.*?)(?: \\[recovered\\])?$",
                   line, &m) &&
            !match(g, "\\bhttp2?: (panic) serving \\S+: (?:(runtime error): )?(.*)$", line, &m))
            continue;
        COPY(m.group[1].at ? m.group[1] : m.group[0], d->type);
        COPY(m.group[2], d->message);
        /* A panic during a panic: the first one is the cause. */
        struct match again;
        while (next_line(&rest, &line) && !starts_with(line, "goroutine ")) {
            if (!match(g, "^\tpanic: (?:(runtime error): )?(.*?)(?: \\[recovered\\])?$", line,
                       &again))
                continue;
            struct cause *c = add_cause(d);
            if (c) {
                COPY(piece_of(d->type), c->type);
                COPY(piece_of(d->message), c->message);
            }
            COPY(again.group[0].at ? again.group[0] : PIECE("panic"), d->type);
            COPY(again.group[1], d->message);
        }
        read_goroutine(g, in, text_of(in), d);
        locate_by_frames(d);
        /* A stack overflows in the first line of the function; the line of the call is more
         * useful. */
        if (piece_has(piece_of(d->message), "stack overflow") && d->n_frames > 1 &&
            d->frames[1].user)
            d->location = d->frames[1].at;
        return true;
    }
    return false;
}

/* "2024/05/01 12:00:00 open x: no such file": log.Fatal, or the last line before os.Exit(1). */
static bool read_fatal(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    struct piece line = last_words(in);
    bool logged = match(
        g, "^\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)? (?:(\\S+\\.go):(\\d+): )?(.*)$",
        line, &m);
    if (logged && m.group[0].at)
        (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
    return read_exit(g, in, d, logged ? m.group[2] : line, logged, rules);
}

/* A package other than main is compiled to a library, which cannot be started. */
static bool read_package(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    struct source_lines s = { .in = in };
    if (!piece_has(text_of(in), "Exec format error"))
        return false;
    while (next_source_line(&s))
        if (match(g, "^package\\s+(\\w+)", s.line, &m) && !piece_is(m.group[0], "main")) {
            (void)snprintf(d->message, sizeof d->message, "package %.*s is not a main package",
                           P(piece_cut(m.group[0], 80)));
            set_location(d, s.file->name, s.number);
            return true;
        }
    return false;
}

static bool read_go(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool found = (!in->compiling && read_panic(g, in, d)) ||
                 ((in->compiling || !in->evidence) && read_compiler(g, in, d)) ||
                 read_package(g, in, d) || (failed_by_itself(in) && read_fatal(g, in, d));
    if (found && !classify(g, d, rules))
        d->category = d->type[0]         ? CATEGORY_RUNTIME
                      : d->location.line ? CATEGORY_TYPE /* neither syntax nor names */
                                         : CATEGORY_COMPILE;
    return found;
}

static void advise_go(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    if (d->category == CATEGORY_SYNTAX && advise_fence(in, d))
        return;
    advise_by(g, in, d, rules);
    if (starts_with(piece_of(d->message), "no new variables"))
        (void)suggest_swap(in, d, PIECE(":="), "=");
}

const struct grammar grammar_go = { .name = "go", .read = read_go, .advise = advise_go };
