/* What was measured from outside: limits, signals, exit codes; and what our own policy caused. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

/* ---- limits ---- */

struct limit_words {
    enum verdict verdict;
    enum limit_id limit;
    const char *what; /* "it was stopped: " + what, with the limit in place of %s */
    const char *advice;
    const char *compiler; /* the same of a compiler, whose limits are others */
};

static const struct limit_words limit_rows[] = {
    { VERDICT_TIMEOUT, LIMIT_WALL_MS, "it took longer than the %s of real time it may take",
      "If it needs longer, give it more time", "the compiler took longer than it may" },
    { VERDICT_CPU_TIMEOUT, LIMIT_CPU_MS, "it used up the %s of CPU time it may use",
      "If it needs more CPU time, give it more", "the compiler used more CPU time than it may" },
    { VERDICT_MEMORY_LIMIT, LIMIT_MEMORY, "it needed more than the %s of memory it may use",
      "Hold less at once (read in pieces, free what is done), or give it more memory",
      "the compiler needed more memory than it may" },
    { VERDICT_OUTPUT_LIMIT, LIMIT_OUTPUT, "it printed more than the %s it may print",
      "Print less (a loop may not end), write large results to a file, or allow more output",
      "the compiler printed more than it may" },
    { VERDICT_PROCESS_LIMIT, LIMIT_PIDS, "it wanted more than %s processes and threads at once",
      "Start fewer at a time (a pool of workers), or allow more",
      "the compiler wanted more processes than it may start" },
    { VERDICT_DISK_LIMIT, LIMIT_DISK, "it wrote more than the %s of files it may write",
      "Write less, remove what is not needed any more, or allow more",
      "the compiler wrote more to files than it may" },
};

static const struct limit_words *limit_row(const struct diagnose_input *in)
{
    for (size_t i = 0; i < ARRAY_LEN(limit_rows); i++)
        if (limit_rows[i].verdict == in->verdict)
            return &limit_rows[i];
    return NULL;
}

/* Which of the limits on disk it was. */
static enum limit_id limit_of(const struct diagnose_input *in, const struct limit_words *w)
{
    limit_set hits = in->evidence ? in->evidence->hits : 0;
    if (w->limit == LIMIT_DISK && hits & LIMIT_BIT(LIMIT_FILES) && !(hits & LIMIT_BIT(LIMIT_DISK)))
        return LIMIT_FILES;
    return w->limit;
}

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

/* The limit that stopped a compiler. One that met a limit and yet told of a line failed because of that line. */
static const struct limit_words *compiler_limit(const struct diagnose_input *in,
                                                const struct diagnosis *d)
{
    if (!in->compiling || !in->evidence || d->location.line)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(limit_rows); i++)
        if (in->evidence->hits & LIMIT_BIT(limit_rows[i].limit))
            return &limit_rows[i];
    return NULL;
}

/* What the program said about it becomes a cause: the limit is why it ended. */
static void keep_as_cause(struct diagnosis *d)
{
    struct cause first = { .at = d->location };
    COPY(piece_of(d->type), first.type);
    COPY(piece_of(d->message), first.message);
    if (d->n_causes == DIAGNOSE_CAUSES)
        d->n_causes--;
    memmove(&d->causes[1], &d->causes[0], d->n_causes * sizeof first);
    d->causes[0] = first;
    d->n_causes++;
}

static void read_limit(const struct diagnose_input *in, struct diagnosis *d,
                       const struct limit_words *w, bool read)
{
    enum limit_id limit = limit_of(in, w);
    char amount[32] = "amount", spent[96], what[160];
    if (read)
        keep_as_cause(d);
    if (in->limits)
        (void)unit_format(limit_defs[limit].unit, in->limits->v[limit], amount, sizeof amount);
    used(in, limit, spent, sizeof spent);
    const char *form = limit == LIMIT_FILES ? "it made more than the %s files it may make"
                                            : w->what;
    const char *mark = strstr(form, "%s");
    (void)snprintf(what, sizeof what, "%.*s%s%s", (int)(mark - form), form, amount, mark + 2);
    (void)snprintf(d->message, sizeof d->message, "%s%s", what, spent);
    (void)snprintf(d->type, sizeof d->type, "%s", verdict_word(in->verdict));
    d->category = CATEGORY_RESOURCE;
    d->docs[0] = '\0';
    if (in->hot_line && d->location.line == 0 && in->main_name) {
        COPY(piece_of(in->main_name), d->location.file);
        d->location.line = in->hot_line;
    }
}

static void read_compiler_limit(struct diagnosis *d, const struct limit_words *w, bool read)
{
    if (read)
        keep_as_cause(d);
    COPY(piece_of(w->compiler), d->message);
    COPY(piece_of(verdict_word(w->verdict)), d->type);
    d->category = CATEGORY_RESOURCE;
    d->docs[0] = '\0';
}

static void advise_compiler_limit(struct diagnosis *d, const struct limit_words *w)
{
    const struct limit_def *def = &limit_defs[w->limit];
    suggest(d, 40, 0.8,
            "Allow the compiler more: --compile-limit %s=%s on the command line, "
            "\"compile_limits\": {\"%s\": …} in a request; or give it less to do.",
            def->option, def->metavar, def->key);
}

static void advise_limit(const struct diagnose_input *in, struct diagnosis *d,
                         const struct limit_words *w)
{
    enum limit_id limit = limit_of(in, w);
    const struct limit_def *def = &limit_defs[limit];
    char twice[32] = "";
    uint64_t more = in->limits ? in->limits->v[limit] * 2 : def->def * 2;
    if (more > def->max)
        more = def->max;
    (void)unit_format(def->unit, more, twice, sizeof twice);
    if (in->hot_line && in->hot_line == d->location.line)
        suggest(d, 0, 0.85, "Most of the time was spent at line %u of %s.", d->location.line,
                d->location.file);
    suggest(d, 40, 0.8, "%s: --%s %s on the command line, \"limits\": {\"%s\": %llu} in a request.",
            w->advice, def->option, twice, def->key, (unsigned long long)more);
    if (in->verdict == VERDICT_TIMEOUT && in->usage && in->usage->cpu_us < in->usage->wall_us / 10)
        suggest(d, 0, 0.82,
                "It used almost no CPU time: it waited (for input, a lock, the network, or in a "
                "sleep). What it reads can be given on standard input.");
}

/* ---- signals and exit codes ---- */

static const struct {
    int number;
    const char *name, *what;
} signal_rows[] = {
    { SIGSEGV, "SIGSEGV", "it used memory that is not its own (segmentation fault)" },
    { SIGABRT, "SIGABRT",
      "it gave up by abort(): an assertion, a broken heap, or an uncaught C++ exception" },
    { SIGFPE, "SIGFPE", "it divided an integer by zero, or overflowed in a division" },
    { SIGILL, "SIGILL",
      "it ran an instruction that this processor does not have, or reached a trap" },
    { SIGBUS, "SIGBUS",
      "it used memory that has nothing behind it (bus error): a mapped file that became shorter, "
      "or no space left" },
    { SIGSYS, "SIGSYS", "it made a system call that no jar may make" },
    { SIGKILL, "SIGKILL", "it was killed (SIGKILL)" },
    { SIGTERM, "SIGTERM", "it was ended by SIGTERM" },
    { SIGPIPE, "SIGPIPE", "it wrote to a pipe that nobody reads any more" },
    { SIGINT, "SIGINT", "it was interrupted (SIGINT)" },
    { SIGTRAP, "SIGTRAP", "it reached a trap (SIGTRAP)" },
    { SIGXCPU, "SIGXCPU", "it used up its CPU time (SIGXCPU)" },
    { SIGXFSZ, "SIGXFSZ", "it wrote a file larger than it may be (SIGXFSZ)" },
};

/* A shell tells of a child that a signal ended as 128 + the signal. */
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
            (void)snprintf(d->message, sizeof d->message, "%s", signal_rows[i].what);
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
        return; /* who ended itself by a signal said why, and what to do about it */
    }
    if (memory && c) {
        suggest(d, 38, 0.7,
                "Run it again with checks of memory: --compiler-arg -fsanitize=address,undefined "
                "--compiler-arg -g (\"compiler_args\" in a request) names the line.");
    } else if (number == SIGSEGV) {
        suggest(
            d, 38, 0.5,
            "A library written in C, or a recursion that is too deep, does this to an interpreter: "
            "look at calls into extensions (ctypes, cffi) and at what calls itself.");
    } else if (number == SIGFPE) {
        suggest(d, 15, 0.6,
                "Check the divisor before the division: integers cannot be divided by zero.");
    } else if (number == SIGKILL) {
        suggest(d, 40, 0.4,
                "Nothing in the jar's limits did that: a process of the program's own was killed "
                "by another, or by itself.");
    }
}

static void read_last_words(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = { in->text, in->len }, line, best = NO_PIECE;
    for (int i = 0; i < 8 && !best.at && last_line(&rest, &line); i++)
        if (piece_trim(line).len > 0)
            best = piece_trim(line);
    int code = in->evidence->exit_code;
    if (best.at)
        COPY(best, d->message);
    else
        (void)snprintf(d->message, sizeof d->message,
                       "the program ended with status %d and said nothing about it on stderr",
                       code);
    (void)snprintf(d->type, sizeof d->type, "exit %d", code);
    d->category = CATEGORY_RUNTIME;
}

static const struct {
    enum verdict verdict;
    const char *what, *advice;
} our_rows[] = {
    { VERDICT_INTERNAL_ERROR,
      "the run failed because of Belljar or its host, not because of the program",
      "Send it again; `belljar doctor` says what is wrong with this host." },
    { VERDICT_REJECTED, "the run was not allowed to start: it was rejected before its jar was made",
      "Ask whoever decides about approvals, or send what the rules allow." },
    { VERDICT_CANCELLED, "the run was cancelled before it ended", NULL },
};

void system_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                 bool read)
{
    (void)g;
    const struct limit_words *w = limit_row(in);
    if (w) {
        read_limit(in, d, w, read);
        return;
    }
    if (compiler_limit(in, d)) {
        read_compiler_limit(d, compiler_limit(in, d), read);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(our_rows); i++)
        if (our_rows[i].verdict == in->verdict) {
            if (read)
                keep_as_cause(d);
            d->sandbox = true;
            d->category = CATEGORY_SANDBOX;
            (void)snprintf(d->type, sizeof d->type, "%s", verdict_word(in->verdict));
            (void)snprintf(d->message, sizeof d->message, "%s", our_rows[i].what);
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
    const struct limit_words *w = limit_row(in);
    if (w)
        advise_limit(in, d, w);
    else if (compiler_limit(in, d))
        advise_compiler_limit(d, compiler_limit(in, d));
    else if (in->evidence && strncmp(d->type, "SIG", 3) == 0)
        advise_signal(in, d);
    sandbox_advise(g, in, d);
}
