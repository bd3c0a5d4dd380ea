/* Measurements from outside: limits, signals and exit codes. Runs in: keeper. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

/* ---- limits ---- */

static void used(const struct diagnose_input *in, enum limit_id limit, char *out, size_t size)
{
    const struct usage *u = in->usage;
    out[0] = '\0';
    if (!u)
        return;
    if (limit == LIMIT_WALL_MS || limit == LIMIT_CPU_MS)
        (void)snprintf(out, size, "; it ran for %.2f s and used %.2f s of CPU time",
                       (double)u->wall_us / 1e6, (double)u->cpu_us / 1e6);
    else if (limit == LIMIT_MEMORY)
        (void)snprintf(out, size, "; at its peak it held %.1f MiB",
                       (double)u->memory_peak_bytes / (1 << 20));
    else if (limit == LIMIT_PIDS && u->pids_peak)
        (void)snprintf(out, size, "; at its peak there were %llu",
                       (unsigned long long)u->pids_peak);
}

/* The limit that ended a program or a compiler. A compiler that met a limit and yet named a line
 * failed because of that line. */
static enum limit_id limit_of(const struct diagnose_input *in, const struct diagnosis *d)
{
    limit_set hits = in->evidence ? in->evidence->hits : 0;
    enum limit_id of_program = verdict_limit(in->verdict, hits);
    if (of_program != LIMIT_NONE || !in->compiling)
        return of_program;
    for (int i = 0; i < LIMIT_COUNT && !d->location.line; i++)
        if (hits & LIMIT_BIT(i) && limit_defs[i].exceeded)
            return (enum limit_id)i;
    return LIMIT_NONE;
}

/* A verdict about a limit is always about the program, never about its compiler. */
static bool is_of_compiler(const struct diagnose_input *in)
{
    return verdict_limit(in->verdict, 0) == LIMIT_NONE;
}

/* The kernel objects that ended it, if that was the cause. */
static enum hoard hoard_of(const struct diagnose_input *in, enum limit_id limit)
{
    return in->evidence && limit == LIMIT_MEMORY ? in->evidence->hoard : HOARD_NONE;
}

static bool is_time(enum limit_id limit)
{
    return limit == LIMIT_WALL_MS || limit == LIMIT_CPU_MS;
}

/* The limits of a compiler are not known here. */
static void read_limit(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                       enum limit_id limit, bool read)
{
    bool compiler = is_of_compiler(in);
    char spent[96] = "", what[96];
    if (read)
        keep_as_cause(d);
    enum hoard hoard = hoard_of(in, limit);
    if (hoard != HOARD_NONE)
        (void)hoard_exceeded(hoard, what, sizeof what);
    else
        (void)limit_exceeded(limit, compiler ? NULL : in->limits, what, sizeof what);
    if (!compiler && hoard == HOARD_NONE)
        used(in, limit, spent, sizeof spent);
    (void)snprintf(d->message, sizeof d->message, "%s %s%s", compiler ? "the compiler" : "it", what,
                   spent);
    (void)snprintf(d->type, sizeof d->type, "%s", verdict_word(verdict_of_limit(limit)));
    d->category = CATEGORY_RESOURCE;
    d->docs[0] = '\0';
    if (!compiler && in->hot_line && d->location.line == 0 && in->main_name) {
        COPY(piece_of(in->main_name), d->location.file);
        d->location.line = in->hot_line;
    }
    if (!compiler && is_time(limit))
        stopped_read(g, in, d);
}

/* The statement of a script that ran when it was stopped: its line, and the begin of its text. */
static struct piece statement_of(const struct diagnose_input *in, uint32_t *ret_line)
{
    const struct source_file *f = in->main_name ? find_source(in, piece_of(in->main_name)) : NULL;
    struct piece text = whole_source(f);
    size_t at = in->statement - 1;
    *ret_line = 1;
    if (in->statement == 0 || at >= text.len)
        return NO_PIECE;
    while (at < text.len && strchr(" \t\r\n", piece_byte(text, at)))
        at++;
    for (size_t i = 0; i < at; i++)
        *ret_line += piece_byte(text, i) == '\n';
    struct piece rest = piece_skip(text, at);
    return piece_trim(piece_cut(rest, piece_find(rest, ";")));
}

static void advise_statement(const struct diagnose_input *in, struct diagnosis *d)
{
    enum { SHOWN = 200 };
    char shown[SHOWN + 1];
    uint32_t line;
    struct piece text = statement_of(in, &line);
    if (text.len == 0)
        return;
    COPY(text, shown);
    for (char *c = shown; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
    set_location(d, in->main_name, line);
    suggest(d, 0, 0.86, "It was in the statement at line %u: %s%s", line, shown,
            text.len > SHOWN ? "…" : "");
}

static void advise_compiler_limit(struct diagnosis *d, enum limit_id limit)
{
    const struct limit_def *def = &limit_defs[limit];
    suggest(d, 40, 0.8,
            "Allow the compiler more: --compile-limit %s=%s on the command line, "
            "\"compile_limits\": {\"%s\": …} in a request; or give it less to do.",
            def->option, def->metavar, def->key);
}

/* The limits of the session's life are not known here. */
static void advise_cell_limit(struct diagnosis *d, enum limit_id limit, uint64_t more)
{
    const struct limit_def *def = &limit_defs[limit];
    bool of_cells = limit == LIMIT_WALL_MS || limit == LIMIT_CPU_MS || limit == LIMIT_OUTPUT;
    if (!of_cells)
        suggest(d, 40, 0.8, "%s: \"limits\": {\"%s\": …} of a new session.", def->advice, def->key);
    else
        suggest(d, 40, 0.8, "%s: %s\"cell_limits\": {\"%s\": %llu} of its session.", def->advice,
                limit == LIMIT_WALL_MS ? "\"timeout\" of the cell in seconds, or " : "", def->key,
                (unsigned long long)more);
}

/* Time ended it, and it had reached its number of processes before. */
static bool is_bomb(const struct diagnose_input *in, enum limit_id limit)
{
    return is_time(limit) && in->evidence && in->evidence->hits & LIMIT_BIT(LIMIT_PIDS);
}

static void advise_bomb(const struct diagnose_input *in, struct diagnosis *d)
{
    unsigned long long most = in->limits ? in->limits->v[LIMIT_PIDS] : 0;
    suggest(
        d, 0, 0.9,
        "It started processes until its limit of %llu refused more, so more time does not help: "
        "look for a function or a loop that starts itself again (a fork bomb), or allow more: "
        "--pids %llu on the command line, \"limits\": {\"pids\": %llu} in a request.",
        most, most * 2, most * 2);
}

static void advise_limit(const struct diagnose_input *in, struct diagnosis *d, enum limit_id limit)
{
    const struct limit_def *def = &limit_defs[limit];
    if (hoard_of(in, limit) != HOARD_NONE) {
        suggest(d, 40, 0.8, "%s: they are kernel memory, of which no limit gives more.",
                hoard_defs[hoard_of(in, limit)].advice);
        return;
    }
    if (is_time(limit)) {
        advise_statement(in, d);
        stopped_advise(in, d);
    }
    if (is_bomb(in, limit)) {
        advise_bomb(in, d);
        return;
    }
    char twice[32] = "";
    uint64_t more = in->limits ? in->limits->v[limit] * 2 : def->def * 2;
    if (more > def->max)
        more = def->max;
    (void)unit_format(def->unit, more, twice, sizeof twice);
    if (in->hot_line && in->hot_line == d->location.line)
        suggest(d, 0, 0.85, "Most of the time was spent at line %u of %s.", d->location.line,
                d->location.file);
    if (in->is_cell)
        advise_cell_limit(d, limit, more);
    else
        suggest(d, 40, 0.8,
                "%s: --%s %s on the command line, \"limits\": {\"%s\": %llu} in a request.",
                def->advice, def->option, twice, def->key, (unsigned long long)more);
    if (in->verdict == VERDICT_TIMEOUT && in->usage && in->usage->cpu_us < in->usage->wall_us / 10)
        suggest(d, 0, 0.82,
                "It used almost no CPU time because it waited (for input, a lock, the network, or "
                "in a sleep). If it waits for input, give it standard input.");
}

/* ---- signals and exit codes ---- */

static const struct {
    int number;
    const char *name, *message;
} signal_rows[] = {
    { SIGSEGV, "SIGSEGV", "it used memory that is not its own (segmentation fault)" },
    { SIGABRT, "SIGABRT",
      "it called abort(): a failed assertion, a broken heap, or an uncaught C++ exception" },
    { SIGFPE, "SIGFPE", "it divided an integer by zero, or overflowed in a division" },
    { SIGILL, "SIGILL",
      "it ran an instruction that this processor does not have, or reached a trap" },
    { SIGBUS, "SIGBUS",
      "it used memory without anything behind it (bus error): a mapped file became shorter, or no "
      "space is left" },
    { SIGSYS, "SIGSYS", "it made a system call that jars do not allow" },
    { SIGKILL, "SIGKILL", "it was killed (SIGKILL)" },
    { SIGTERM, "SIGTERM", "it was ended by SIGTERM" },
    { SIGPIPE, "SIGPIPE", "it wrote to a pipe whose reader is gone" },
    { SIGINT, "SIGINT", "it was interrupted (SIGINT)" },
    { SIGTRAP, "SIGTRAP", "it reached a trap (SIGTRAP)" },
    { SIGXCPU, "SIGXCPU", "it used up its CPU time (SIGXCPU)" },
    { SIGXFSZ, "SIGXFSZ", "it wrote a file larger than its limit (SIGXFSZ)" },
};

/* A shell reports a child that a signal ended as 128 + the signal. */
static int signal_of(const struct evidence *ev)
{
    return ev->signal                                   ? ev->signal
           : ev->exit_code > 128 && ev->exit_code < 160 ? ev->exit_code - 128
                                                        : 0;
}

static bool read_signal(const struct diagnose_input *in, struct diagnosis *d)
{
    int number = signal_of(in->evidence);
    for (size_t i = 0; number && i < ARRAY_LEN(signal_rows); i++)
        if (signal_rows[i].number == number) {
            (void)snprintf(d->type, sizeof d->type, "%s", signal_rows[i].name);
            (void)snprintf(d->message, sizeof d->message, "%s", signal_rows[i].message);
            d->category = number == SIGSYS                         ? CATEGORY_SANDBOX
                          : number == SIGXCPU || number == SIGXFSZ ? CATEGORY_RESOURCE
                                                                   : CATEGORY_RUNTIME;
            d->sandbox = number == SIGSYS;
            return true;
        }
    return false;
}

static void advise_signal(const struct diagnose_input *in, struct diagnosis *d)
{
    int number = signal_of(in->evidence);
    bool c = in->grammar && strcmp(in->grammar, "gcc") == 0;
    bool memory = number == SIGSEGV || number == SIGBUS || number == SIGABRT;
    if (d->n_suggestions > 0 && c) {
        return; /* the grammar has explained the signal already */
    }
    if (memory && c) {
        suggest(d, 38, 0.7,
                "Run it again with memory checks, which name the line: --compiler-arg "
                "-fsanitize=address,undefined --compiler-arg -g (\"compiler_args\" in a request).");
    } else if (number == SIGSEGV) {
        suggest(d, 38, 0.5,
                "In an interpreter this comes from a library written in C, or from a recursion "
                "that is too deep: check the calls into extensions (ctypes, cffi) and the "
                "functions that call themselves.");
    } else if (number == SIGFPE) {
        suggest(d, 15, 0.6,
                "Check the divisor before the division: integers cannot be divided by zero.");
    } else if (number == SIGKILL) {
        suggest(
            d, 40, 0.4,
            "No limit of the jar did that: one of the program's own processes sent the signal.");
    }
}

static void read_last_words(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, best = NO_PIECE;
    for (int i = 0; i < 8 && !best.at && last_line(&rest, &line); i++)
        if (piece_trim(line).len > 0)
            best = piece_trim(line);
    int code = in->evidence->exit_code;
    if (best.at)
        COPY(best, d->message);
    else
        (void)snprintf(d->message, sizeof d->message,
                       "the program ended with status %d and printed nothing about it on stderr",
                       code);
    (void)snprintf(d->type, sizeof d->type, "exit %d", code);
    d->category = CATEGORY_RUNTIME;
}

static const struct {
    enum verdict verdict;
    const char *message, *advice;
} our_rows[] = {
    { VERDICT_INTERNAL_ERROR,
      "the run failed because of Belljar or its host, not because of the program",
      "Send the run again; `belljar doctor` names the problems of this host." },
    { VERDICT_REJECTED, "the run was not allowed to start: it was rejected before its jar existed",
      "Ask the person who decides about approvals, or send a run that the rules allow." },
    { VERDICT_CANCELLED, "the run was cancelled before it ended", NULL },
};

void system_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                 bool read)
{
    enum limit_id limit = limit_of(in, d);
    if (limit != LIMIT_NONE) {
        read_limit(g, in, d, limit, read);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(our_rows); i++)
        if (our_rows[i].verdict == in->verdict) {
            if (read)
                keep_as_cause(d);
            d->sandbox = true;
            d->category = CATEGORY_SANDBOX;
            (void)snprintf(d->type, sizeof d->type, "%s", verdict_word(in->verdict));
            (void)snprintf(d->message, sizeof d->message, "%s", our_rows[i].message);
            if (our_rows[i].advice)
                suggest(d, 0, 0.6, "%s", our_rows[i].advice);
            return;
        }
    if (read || !in->evidence)
        return;
    if (!read_signal(in, d))
        read_last_words(in, d);
}

void system_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    enum limit_id limit = limit_of(in, d);
    if ((limit == LIMIT_WALL_MS || limit == LIMIT_CPU_MS || limit == LIMIT_MEMORY) &&
        !is_of_compiler(in))
        (void)endless_recursion(g, in, d);
    if (limit != LIMIT_NONE && is_of_compiler(in))
        advise_compiler_limit(d, limit);
    else if (limit != LIMIT_NONE)
        advise_limit(in, d, limit);
    else if (in->evidence && strncmp(d->type, "SIG", 3) == 0)
        advise_signal(in, d);
    sandbox_advise(g, in, d);
}
