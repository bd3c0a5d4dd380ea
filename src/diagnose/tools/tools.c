/* Reads the findings of tools that are not a language: type checkers, linters, formatters, package
 * managers and builders. Each names itself in the type: "mypy arg-type". Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"
#include "diagnose/tools/tools.h"

#include "diagnose/tools.rules.h" /* generated */
#include "diagnose/tools.words.h" /* generated */

/* One form of a line. A number is that of the pattern's group; 0: the line does not have it. */
struct format {
    const char *tool;
    const char *needs; /* every line of this form has it */
    const char *pattern;
    enum category category;
    unsigned file, line, column, code, message;
};

static const struct format formats[] = {
    { "mypy", ": error: ",
      "^(\\S+\\.pyi?):(\\d+)(?::(\\d+))?(?::\\d+:\\d+)?: error: (.+?)(?:  \\[([\\w-]+)\\])?$",
      CATEGORY_TYPE, 1, 2, 3, 5, 4 },
    { "pyright",
      " - error: ", "^\\s+(\\S+\\.pyi?):(\\d+):(\\d+) - error: (.+?)(?: \\((report\\w+)\\))?$",
      CATEGORY_TYPE, 1, 2, 3, 5, 4 },
    { "pylint", ".py:", "^(\\S+\\.pyi?):(\\d+):(\\d+): ([CRWEF]\\d{4}): (.+?)(?: \\([\\w-]+\\))?$",
      CATEGORY_COMPILE, 1, 2, 3, 4, 5 },
    { "ruff", ".py:", "^(\\S+\\.pyi?):(\\d+):(\\d+): ([A-Z]{1,4}\\d{1,4}) (?:\\[\\*\\] )?(.+)$",
      CATEGORY_COMPILE, 1, 2, 3, 4, 5 },
    { "ruff", ".py:", "^(\\S+\\.pyi?):(\\d+):(\\d+): (?:SyntaxError|invalid-syntax): (.+)$",
      CATEGORY_SYNTAX, 1, 2, 3, 0, 4 },
    { "black", "error: cannot format ",
      "^error: cannot format (\\S+?): Cannot parse(?: for target version [^:]+)?: (\\d+):(\\d+): "
      "(.*)$",
      CATEGORY_SYNTAX, 1, 2, 3, 0, 4 },
    { "prettier", "[error] ", "^\\[error\\] (\\S+): SyntaxError: (.+) \\((\\d+):(\\d+)\\)$",
      CATEGORY_SYNTAX, 1, 3, 4, 0, 2 },
    { "rubocop",
      ".rb:", "^(\\S+\\.rb):(\\d+):(\\d+): [CWEF]: (?:\\[\\w+\\] )?(?:([A-Z]\\w+/\\w+): )?(.+)$",
      CATEGORY_COMPILE, 1, 2, 3, 4, 5 },
    { "maven", "[ERROR] ",
      "^\\[ERROR\\] (\\S+\\.(?:java|kt)):\\[(\\d+),(\\d+)\\] (?:error: )?(.+)$", CATEGORY_COMPILE,
      1, 2, 3, 0, 4 },
    { "maven", "Could not ",
      "^\\[ERROR\\] .*?((?:Could not resolve dependencies|Could not find artifact).*?)(?: -> "
      "\\[Help \\d+\\])?$",
      CATEGORY_IMPORT, 0, 0, 0, 0, 1 },
    { "gradle", "> Could not ", "^\\s*> (Could not (?:find|resolve) \\S.*)$", CATEGORY_IMPORT, 0, 0,
      0, 0, 1 },
    { "kotlinc", "e: ", "^e: (?:file://)?(\\S+\\.kts?):(\\d+):(\\d+):? (?:error: )?(.+)$",
      CATEGORY_COMPILE, 1, 2, 3, 0, 4 },
    { "csc", ": error CS", "^(\\S+\\.cs)\\((\\d+),(\\d+)\\): error (CS\\d+): (.*?)(?: \\[.*\\])?$",
      CATEGORY_COMPILE, 1, 2, 3, 4, 5 },
    { "swiftc", ": error: ", "^(\\S+\\.swift):(\\d+):(\\d+): error: (.+)$", CATEGORY_COMPILE, 1, 2,
      3, 0, 4 },
    { "eslint", "Error",
      "^(\\S+\\.(?:[cm]?[jt]sx?|vue)): line (\\d+), col (\\d+), Error - (.+?)(?: "
      "\\(([\\w@/-]+)\\))?$",
      CATEGORY_COMPILE, 1, 2, 3, 5, 4 },
    { "shellcheck", "[SC", "^(\\S+):(\\d+):(\\d+): (?:error|warning|note): (.+) \\[(SC\\d+)\\]$",
      CATEGORY_COMPILE, 1, 2, 3, 5, 4 },
    { "pip", "ERROR: ", "^ERROR: (Could not find a version that satisfies the requirement .*)$",
      CATEGORY_IMPORT, 0, 0, 0, 0, 1 },
    { "pip",
      "ERROR: ", "^ERROR: (Cannot install .* because these package versions have conflicting.*)$",
      CATEGORY_IMPORT, 0, 0, 0, 0, 1 },
    { "npm", "npm ", "^npm (?:ERR!|error) (Missing script: .*)$", CATEGORY_RUNTIME, 0, 0, 0, 0, 1 },
    { "npm", "npm ", "^npm (?:ERR!|error) code (E(?!LIFECYCLE)\\w+)$", CATEGORY_IMPORT, 0, 0, 0, 1,
      0 },
    { "webpack", "Can't resolve ", "^Module not found: Error: (Can't resolve '.+' in '.+')$",
      CATEGORY_IMPORT, 0, 0, 0, 0, 1 },
    { "vite", "failed to resolve import ",
      "^.*((?:Rollup f|F)ailed to resolve import \"[^\"]+\" from \"[^\"]+\").*$", CATEGORY_IMPORT,
      0, 0, 0, 0, 1 },
};

/* Lines that belong to the next finding. */
struct before {
    struct piece file, line, code, message;
};

static struct piece group_of(const struct match *m, unsigned number)
{
    return number > 0 ? m->group[number - 1] : NO_PIECE;
}

static void set_type(const char *tool, struct piece code, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s%.*s", tool, code.len > 0 ? " " : "", P(piece_cut(code, 40)));
}

/* flake8 prints the lines of ruff without the last one, which counts them. */
static const char *linter(struct diagnoser *g, struct piece rest, const char *tool)
{
    struct match m;
    return strcmp(tool, "ruff") != 0 || match_text(g, "^Found \\d+ error|^\\[\\*\\] ", rest, &m)
               ? tool
               : "flake8";
}

static const struct format *format_of(struct diagnoser *g, struct piece line, struct match *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (piece_has(line, formats[i].needs) && match(g, formats[i].pattern, line, ret))
            return &formats[i];
    return NULL;
}

/* The words below the code of npm's error, and those below javac's "cannot find symbol" in Maven. */
static void read_below(struct diagnoser *g, struct piece rest, const struct format *f, char *out,
                       size_t size)
{
    struct piece line;
    struct match m;
    bool npm = strcmp(f->tool, "npm") == 0 && f->message == 0;
    for (unsigned n = 0; n < 8 && next_line(&rest, &line); n++)
        if (npm && match(g, "^npm (?:ERR!|error) (?:\\w+ )?(\\S.*)$", line, &m))
            append_text(out, size, out[0] ? " " : "", piece_trim(m.group[0]));
        else if (!npm && match(g, "^(?:\\[ERROR\\])?  +(symbol|location): +(.*)$", line, &m))
            append_text(out, size, "\n", piece_trim(m.all));
        else if (!npm)
            return;
}

/* ESLint, Ruff's long form and ShellCheck print a finding in several lines. True when the line ends
 * one. */
static bool read_parts(struct diagnoser *g, const struct diagnose_input *in, struct piece line,
                       struct before *b, struct further_error *ret)
{
    struct match m;
    if (match(g, "^((?:[A-Z]:)?[\\w@./\\\\-]+\\.(?:[cm]?[jt]sx?|vue|svelte))$", line, &m)) {
        b->file = m.group[0];
        return false;
    }
    if (b->file.at &&
        match(g, "^\\s+(\\d+):(\\d+)\\s+error\\s+(\\S.*?)(?:\\s{2,}([\\w@/-]+))?\\s*$", line, &m)) {
        (void)set_place(in, &ret->at, b->file, m.group[0], m.group[1]);
        set_type("eslint", m.group[3], ret->type, sizeof ret->type);
        COPY(m.group[2], ret->message);
        return true;
    }
    if (match(g, "^([A-Z]{1,4}\\d{3,4}) (?:\\[\\*\\] )?(.+)$", line, &m)) {
        *b = (struct before){ .code = m.group[0], .message = m.group[1] };
        return false;
    }
    if (b->code.at && match(g, "^\\s*--> (\\S+\\.pyi?):(\\d+):(\\d+)$", line, &m)) {
        (void)set_place(in, &ret->at, m.group[0], m.group[1], m.group[2]);
        set_type("ruff", b->code, ret->type, sizeof ret->type);
        COPY(b->message, ret->message);
        return true;
    }
    if (match(g, "^In (\\S+) line (\\d+):$", line, &m)) {
        *b = (struct before){ .file = m.group[0], .line = m.group[1] };
        return false;
    }
    if (b->line.at && match(g, "^\\s*\\^-*\\^? (SC\\d+) \\(\\w+\\): (.+)$", line, &m)) {
        (void)set_place(in, &ret->at, b->file, b->line, NO_PIECE);
        set_type("shellcheck", m.group[0], ret->type, sizeof ret->type);
        COPY(m.group[1], ret->message);
        return true;
    }
    return false;
}

struct finding {
    const struct format *format; /* NULL: one of several lines */
    struct before before;        /* goes on behind a finding: ESLint names a file once */
};

static bool next_in(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                    struct further_error *ret, struct finding *f)
{
    struct piece line;
    struct match m;
    while (next_line(rest, &line)) {
        if (read_parts(g, in, line, &f->before, ret))
            return true;
        f->format = format_of(g, line, &m);
        if (!f->format)
            continue;
        set_type(linter(g, *rest, f->format->tool), group_of(&m, f->format->code), ret->type,
                 sizeof ret->type);
        COPY(group_of(&m, f->format->message), ret->message);
        read_below(g, *rest, f->format, ret->message, sizeof ret->message);
        if (f->format->file > 0)
            (void)set_place(in, &ret->at, group_of(&m, f->format->file),
                            group_of(&m, f->format->line), group_of(&m, f->format->column));
        return true;
    }
    return false;
}

static bool read_tools(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in);
    struct further_error first = { 0 };
    struct finding f = { 0 };
    if (!next_in(g, in, &rest, &first, &f))
        return false;
    COPY(piece_of(first.type), d->type);
    COPY(piece_of(first.message), d->message);
    d->location = first.at;
    if (!classify(g, d, rules))
        d->category = f.format ? f.format->category : CATEGORY_COMPILE;
    for (unsigned n = 0; n < LINES_SEEN; n++) {
        struct further_error e = { 0 };
        if (!next_in(g, in, &rest, &e, &f))
            break;
        add_further(d, &e);
    }
    return true;
}

static void advise_tools(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, rules);
    struct match m;
    if (!d->docs[0] && match(g, "^eslint ([a-z][\\w-]*)$", piece_of(d->type), &m))
        (void)snprintf(d->docs, sizeof d->docs, "https://eslint.org/docs/latest/rules/%.*s",
                       P(piece_cut(m.group[0], 60)));
    else if (!d->docs[0] && match(g, "^shellcheck (SC\\d+)$", piece_of(d->type), &m))
        (void)snprintf(d->docs, sizeof d->docs, "https://www.shellcheck.net/wiki/%.*s",
                       P(piece_cut(m.group[0], 12)));
}

const char *tools_language(const struct diagnosis *d)
{
    const char *dot = strrchr(d->location.file, '.');
    const char *by_file = dot ? text_for(languages_by_file, piece_of(dot)) : NULL;
    const char *by_tool = text_for(languages_by_tool,
                                   piece_cut(piece_of(d->type), strcspn(d->type, " ")));
    return by_file ? by_file : by_tool ? by_tool : "";
}

const struct grammar grammar_tools = { .name = "tools",
                                       .read = read_tools,
                                       .advise = advise_tools };
