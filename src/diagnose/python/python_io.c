/* Rules for files, standard input, recursion and event loops. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/python/python.h"

static void on_no_file(const struct advice *a)
{
    struct piece path = a->m.group[0];
    struct similar n = { .name = piece_base(path) };
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece name = piece_of(a->in->sources[i].name);
        if (piece_same(piece_base(name), piece_base(path))) {
            suggest(a->d, 22, 0.93,
                    "The program starts in /sandbox, and the file is '%s' there: use that path.",
                    a->in->sources[i].name);
            (void)suggest_swap(a->in, a->d, path, a->in->sources[i].name);
            return;
        }
        similar_try(&n, piece_base(name));
    }
    if (n.best[0]) {
        suggest(a->d, 22, 0.92, "Did you mean '%s'? That file is beside the program.", n.best);
        (void)suggest_swap(a->in, a->d, path, n.best);
        return;
    }
    if (piece_has(a->line, "subprocess") || piece_has(a->line, "Popen") ||
        piece_has(a->line, "run([")) {
        if (piece_has(path, " ")) {
            suggest(a->d, 39, 0.92,
                    "The command and its arguments are one text, which is taken for the name of a "
                    "program: pass a list, [\"ls\", \"-l\"], shlex.split(text), or shell=True.");
            return;
        }
        suggest(a->d, 39, 0.85,
                "There is no program '%.*s' in this jar, which has only the programs in the host's "
                "/usr: install it on the host.",
                P(path));
        a->d->sandbox = true;
        return;
    }
    struct match m;
    if (match(a->g,
              "(?:open\\(.*['\"][wax]b?\\+?['\"]|write_(?:text|bytes)|\\.to_\\w+\\(|savefig\\(|\\."
              "save\\()",
              a->line, &m) &&
        match(a->g, "^(.+)/[^/]+$", path, &m)) {
        suggest(a->d, 22, 0.9,
                "The directory '%.*s' is not there: make it before the file is written, with "
                "os.makedirs(\"%.*s\", exist_ok=True).",
                P(m.group[0]), P(m.group[0]));
        return;
    }
    if (starts_with(path, "/") && !starts_with(path, "/sandbox")) {
        suggest(a->d, 22, 0.85,
                "A jar does not see the files of your machine. Send the file with the run (--file "
                "%.*s, \"files\" in a request) and open it by its name.",
                P(piece_base(path)));
        return;
    }
    suggest(a->d, 22, 0.85,
            "There is no '%.*s' in /sandbox, where the program starts: send the file with the run "
            "(--file %.*s, \"files\" in a request), or write it first.",
            P(path), P(path));
}

/* Whether the function, which begins at that line, has a condition in its body. */
static bool has_condition(const struct advice *a, const struct source_file *f, uint32_t number)
{
    struct piece rest = text_of_source(f), line;
    struct match m;
    size_t own = 0;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i == number)
            own = indent_of(line);
        else if (i > number && piece_trim(line).len > 0 && indent_of(line) <= own)
            return false;
        if (i >= number && match(a->g, "^\\s*(?:if|elif|match|while|for|try)\\b| if ", line, &m))
            return true;
    }
    return false;
}

static void on_recursion(const struct advice *a)
{
    struct diagnosis *d = a->d;
    const char *name = "";
    for (size_t i = 0; i < d->n_frames && !name[0]; i++) /* not <genexpr> or <lambda> */
        if (d->frames[i].user && d->frames[i].function[0] != '<')
            name = d->frames[i].function;
    bool own = name[0] != '\0';
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    if (own && py_defined(a, piece_of(name), &head, &number, &f) && has_condition(a, f, number)) {
        suggest(
            d, 24, 0.9,
            "%s() calls itself deeper than Python allows (1,000 calls): check that each call "
            "comes nearer to the base case, which returns without another call. A depth that is "
            "really needed takes a loop, or sys.setrecursionlimit().",
            name);
        return;
    }
    suggest(d, 24, 0.9,
            "%s%s calls itself without an end: add a base case, which returns without another "
            "call, and "
            "make each call come nearer to it%s.",
            own ? name : "A function", own ? "()" : "",
            piece_has(a->line, "self.") && own && piece_has(a->line, name)
                ? " (a property that reads itself does this too: store the value under another "
                  "name, self._x)"
                : "");
}

static void on_running_loop(const struct advice *a)
{
    struct match m;
    suggest(a->d, 26, 0.93, "An event loop runs already: await the coroutine inside `async def`.");
    if (match(a->g, "^(.*?)(?:asyncio\\.run|\\w+\\.run_until_complete)\\((.+)\\)(\\s*)$", a->line,
              &m) &&
        starts_with(py_scope_of(a, a->d->location.line).head, "async "))
        suggest_replacement(a->d, "%.*sawait %.*s", P(m.group[0]), P(m.group[1]));
}

static void on_thread(const struct advice *a)
{
    suggest(a->d, 40, 0.8,
            "The number of threads and processes is limited: use a small pool, or allow more "
            "(--pids N).");
    a->d->category = CATEGORY_RESOURCE;
    a->d->sandbox = true;
}

#include "diagnose/python_io.rules.h" /* generated */
