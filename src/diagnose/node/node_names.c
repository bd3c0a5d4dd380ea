/* Rules for JavaScript: names that are not defined, and modules. Runs in: keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/node_names.words.h" /* generated */

/* ---- names ---- */

static bool is_module(const struct advice *a)
{
    size_t n = strlen(a->d->location.file);
    return n > 4 && strcmp(a->d->location.file + n - 4, ".mjs") == 0;
}

/* Another block or function declares the name. */
static bool is_in_a_block(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (indent_of(line) > 0 && match(a->g, "\\b(?:const|let|var)\\s+([\\w$]+)", line, &m) &&
            piece_same(m.group[0], name) && i != a->d->location.line) {
            suggest(a->d, 29, 0.9,
                    "'%.*s' is declared in line %u, inside { }, and is not known outside: declare "
                    "it (let) before that block, or return it.",
                    P(name), i);
            return true;
        }
    return false;
}

/* A name near to it that a line declares, or that Node has. */
static bool near_name(const struct advice *a, struct similar *n)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i == a->d->location.line ||
            !match(a->g, "\\b(?:const|let|var|function|class|import|catch|require|for)\\b|=>", line,
                   &m))
            continue;
        while (line.len > 0 && match(a->g, "(?<![.\\w$])([A-Za-z_$][\\w$]*)", line, &m)) {
            similar_try(n, m.group[0]);
            line = piece_after(line, m.all);
        }
    }
    similar_try_list(n, js_globals);
    return n->best[0] != '\0';
}

/* A field or a method of the class that is used without `this`, and names that a line forgets to declare. */
static bool lacks_declaration(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    bool inside = false;
    char own[140];
    (void)snprintf(own, sizeof own, "this.%.*s", P(piece_cut(name, 120)));
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        inside = inside || match(a->g, "\\bclass\\s+[\\w$]+", line, &m);
        if (!inside || indent_of(a->line) == 0 ||
            (!match(a->g, "\\bthis\\.([\\w$]+)\\s*=[^=]", line, &m) &&
             !match(a->g,
                    "^\\s+(?:static\\s+|async\\s+|get\\s+|#)*([\\w$]+)\\s*(?:\\([^()]*\\)\\s*\\{|=["
                    "^=>].*;)",
                    line, &m)) ||
            !piece_same(m.group[0], name))
            continue;
        suggest(a->d, 29, 0.92, "'%.*s' belongs to the object (line %u): write %s.", P(name), i,
                own);
        (void)suggest_swap(a->in, a->d, name, own);
        return true;
    }
    if (match(a->g, "^\\s*for\\s*\\(\\s*([\\w$]+)\\s*(?:=|of\\b|in\\b)", a->line, &m) &&
        piece_same(m.group[0], name)) {
        suggest(a->d, 29, 0.94,
                "The variable of the loop is not declared: write for (let %.*s ...).", P(name));
        char now[140];
        (void)snprintf(now, sizeof now, "let %.*s", P(piece_cut(name, 120)));
        (void)suggest_swap(a->in, a->d, name, now);
        return true;
    }
    if (match(a->g, "\\bcatch\\s*\\{", a->line, &m) &&
        match(a->g, "^(?:e|err|error|ex)$", name, &m)) {
        suggest(a->d, 29, 0.94, "This `catch` names no error: write catch (%.*s) {.", P(name));
        return true;
    }
    return false;
}

static void on_name(const struct advice *a)
{
    struct piece name = a->m.group[0];
    struct similar n = { .name = name };
    struct match m;
    const char *text;
    if (is_in_a_block(a, name) || lacks_declaration(a, name))
        return;
    if ((text = text_for(browser, name))) {
        suggest(a->d, 29, 0.95, "%s.", text);
        return;
    }
    if ((text = text_for(requires, name))) {
        suggest(a->d, 29, 0.93, "The module must be loaded first: `%s`%s.", text,
                is_module(a) ? " (as an import in a module)" : "");
        if (!is_module(a))
            suggest_replacement(a->d, "%s", text);
        return;
    }
    if ((text = text_for(translations, name))) {
        suggest(a->d, 29, 0.93, "In JavaScript the name is %s.", text);
        if (text[0] != '.')
            (void)suggest_swap(a->in, a->d, name, text);
        return;
    }
    if (near_name(a, &n)) {
        suggest(a->d, 29, 0.9, "Did you mean '%s'?", n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else if (match(a->g, "^\\s*([\\w$]+)\\s*=[^=>]", a->line, &m) &&
               piece_same(m.group[0], name)) {
        suggest(a->d, 29, 0.9,
                "'%.*s' is not declared, and strict code needs that: write let %.*s = ...", P(name),
                P(name));
        char now[140];
        (void)snprintf(now, sizeof now, "let %.*s", P(piece_cut(name, 120)));
        (void)suggest_swap(a->in, a->d, name, now);
    } else {
        suggest(a->d, 29, 0.5,
                "The %s does not declare '%.*s' where this line can see it: declare it "
                "(const, let), load it (require, import), or put it in quotes if it is text.",
                a->in->is_cell ? "session" : "program", P(name));
    }
}

static void on_before_init(const struct advice *a)
{
    struct piece rest = text_of_source(a->file), line, name = a->m.group[0];
    struct match m;
    uint32_t here = a->d->location.line, above = 0;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g, "^\\s*(?:export )?(?:const|let|class)\\s+([\\w$]+)", line, &m) ||
            !piece_same(m.group[0], name))
            continue;
        if (i < here) {
            above = i;
            continue;
        }
        if (i == here)
            suggest(a->d, 16, 0.92,
                    "This line declares a new '%.*s', and its value reads that one and not the "
                    "outer: give the new "
                    "variable another name.",
                    P(name));
        else if (above && indent_of(line) > 0)
            suggest(a->d, 16, 0.93,
                    "Line %u declares another '%.*s' in this block, which hides the one of line "
                    "%u: remove the "
                    "`let` or `const` there, or use another name.",
                    i, P(name), above);
        else
            suggest(a->d, 16, 0.92,
                    "'%.*s' is declared in line %u and cannot be used before that line runs: move "
                    "the declaration up.",
                    P(name), i);
        return;
    }
    suggest(
        a->d, 16, 0.8,
        "'%.*s' is declared below: move the declaration up, or use another name for the inner one.",
        P(name));
}

/* ---- modules ---- */

static void on_import_statement(const struct advice *a)
{
    struct match m;
    suggest(a->d, 30, 0.95,
            "`import` works only in modules: name the file .mjs (or set \"type\": \"module\" in a "
            "package.json beside it), or use require().");
    if (match(
            a->g,
            "^\\s*import\\s+(?:\\*\\s+as\\s+)?([\\w$]+|\\{[^}]*\\})\\s+from\\s+(['\"][^'\"]+['\"])",
            a->line, &m))
        suggest_replacement(a->d, "const %.*s = require(%.*s);", P(m.group[0]), P(m.group[1]));
}

static void on_require(const struct advice *a)
{
    struct match m;
    if (piece_is(a->m.group[0], "require")) {
        suggest(a->d, 30, 0.95,
                "The file is a module (its name ends in .mjs, or it uses import): use import, or "
                "createRequire from 'module'.");
        if (match(a->g,
                  "^\\s*(?:const|let|var)\\s+([\\w$]+|\\{[^}]*\\})\\s*=\\s*require\\((['\"][^'\"]+["
                  "'\"])\\)",
                  a->line, &m))
            suggest_replacement(a->d, "import %.*s from %.*s;", P(m.group[0]), P(m.group[1]));
    } else {
        suggest(
            a->d, 30, 0.93, "A module has no %.*s: %s.", P(a->m.group[0]),
            piece_is(a->m.group[0], "__dirname")
                ? "write const __dirname = dirname(fileURLToPath(import.meta.url)), with dirname "
                  "of 'path' and fileURLToPath of 'url', or import.meta.dirname since Node 20.11"
            : piece_is(a->m.group[0], "__filename")
                ? "write const __filename = fileURLToPath(import.meta.url), with fileURLToPath of "
                  "'url', or import.meta.filename since Node 20.11"
                : "write `export` before the names that others import");
    }
}

static void on_no_export(const struct advice *a)
{
    struct similar n = { .name = a->m.group[1] };
    struct diagnose_input alone = *a->in;
    alone.sources = find_source(a->in, a->m.group[0]);
    alone.n_sources = alone.sources != NULL;
    bool own = alone.n_sources > 0;
    if (own)
        similar_try_sources(&n, &alone);
    else
        js_try_module(a->m.group[0], &n);
    if (n.best[0]) {
        suggest(a->d, 30, own ? 0.85 : 0.93, "'%.*s' exports no '%.*s': did you mean '%s'?%s",
                P(a->m.group[0]), P(a->m.group[1]), n.best,
                own ? " An import without { } takes the default export."
                    : " Write it so in every line that uses it.");
    } else if (starts_with(a->m.group[0], "node:"))
        suggest(a->d, 30, 0.85,
                "'%.*s' exports no '%.*s': check the name, capital letters count, and the module "
                "that has it.",
                P(a->m.group[0]), P(a->m.group[1]));
    else
        suggest(a->d, 30, 0.8,
                "'%.*s' exports no '%.*s': check its export lines; an import without { } takes the "
                "default export.",
                P(a->m.group[0]), P(a->m.group[1]));
}

/* Whether the file has this name, and an extension. */
static bool is_name_of(struct piece file, struct piece name)
{
    return piece_byte(file, name.len) == '.' && piece_same(piece_cut(file, name.len), name);
}

/* A file that is named by its path. */
static void no_file(const struct advice *a, struct piece name)
{
    struct piece base = piece_base(name);
    struct similar n = { .name = base };
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece source = piece_base(piece_of(a->in->sources[i].name));
        if (is_name_of(source, base)) {
            suggest(a->d, 31, 0.94,
                    "The file is '%.*s': a module needs the full name, with the extension.",
                    P(source));
            return;
        }
        similar_try(&n, source);
        struct piece extension = piece_last_part(source);
        if (extension.len < source.len)
            similar_try(&n, piece_cut(source, source.len - extension.len - 1));
    }
    if (n.best[0]) {
        suggest(a->d, 31, 0.92,
                "There is no '%.*s', but '%s' is beside the program: use that name.", P(base),
                n.best);
        (void)suggest_swap(a->in, a->d, base, n.best);
    } else {
        suggest(a->d, 31, 0.85,
                "'%.*s' is not among the files of the run: send it with the run (--file, \"files\" "
                "in a request).",
                P(base));
    }
}

static void on_no_module(const struct advice *a)
{
    struct piece name = a->m.group[0];
    if (starts_with(name, ".") || starts_with(name, "/")) {
        no_file(a, name);
        return;
    }
    struct similar n = { .name = name };
    if (!piece_among(piece_cut(name, piece_find(name, "/")), third_party))
        similar_try_list(&n, builtin_modules);
    if (n.best[0]) {
        suggest(a->d, 31, 0.92, "Did you mean '%s', which is part of Node?", n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
        return;
    }
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece source = piece_of(a->in->sources[i].name);
        if (is_name_of(source, name)) {
            char path[160];
            (void)snprintf(path, sizeof path, "./%.*s", P(name));
            suggest(a->d, 31, 0.94,
                    "The path of a file beside the program begins with './': write '%s'.", path);
            (void)suggest_swap(a->in, a->d, name, path);
            return;
        }
    }
    const char *instead = text_for(stand_ins, name);
    suggest(a->d, 31, 0.9,
            "The package '%.*s' is not installed here, and a jar cannot download it: send its "
            "files with the run, or do without it%s.",
            P(name), instead ? instead : "");
}

#include "diagnose/node_names.rules.h" /* generated */
