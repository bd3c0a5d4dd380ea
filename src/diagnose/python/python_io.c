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
        suggest(a->d, 39, 0.85,
                "There is no program '%.*s' in this jar, which has only the programs in the host's "
                "/usr: install it on the host.",
                P(path));
        a->d->sandbox = true;
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

static void on_recursion(const struct advice *a)
{
    struct diagnosis *d = a->d;
    const char *name = "";
    for (size_t i = 0; i < d->n_frames && !name[0]; i++) /* not <genexpr> or <lambda> */
        if (d->frames[i].user && d->frames[i].function[0] != '<')
            name = d->frames[i].function;
    bool own = name[0] != '\0';
    suggest(d, 24, 0.9,
            "%s%s calls itself without an end: add a case that returns without another call, and "
            "make each call come nearer to that case%s.",
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
              &m))
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

const struct rule py_io_rules[] = {
    ON("FileNotFoundError", "'([^']*)'$", on_no_file),
    ON_SAY("IsADirectoryError", "'([^']*)'$", 22, 0.8,
           "'{1}' is a directory: open a file in it, or list it with os.listdir()."),
    ON_SAY("FileExistsError", "'([^']*)'$", 22, 0.85,
           "'{1}' exists already: os.makedirs(path, exist_ok=True) accepts that; open() with mode "
           "'x' does not."),
    ON("RecursionError", "", on_recursion),
    ON_SAY("EOFError", "EOF when reading a line", 25, 0.95,
           "The program reads input, and none is left: give it standard input (echo TEXT | belljar "
           "run ..., --stdin FILE; \"stdin\" in a request), one line for each input()."),
    ON("RuntimeError",
       "cannot be called from a running event loop|event loop is already running|Cannot run the "
       "event loop",
       on_running_loop),
    ON_SAY("RuntimeError", "^no running event loop|no current event loop", 26, 0.85,
           "No event loop runs here: start one with asyncio.run(main()), and create tasks inside "
           "main()."),
    ON("RuntimeError", "can't start new thread", on_thread),
    ON_SAY("ValueError", "I/O operation on closed file", 0, 0.88,
           "The file is closed already: `with` closes it at the end of its block, so use it inside "
           "the block."),
    ON_SAY("UnsupportedOperation", "not (?:readable|writable)", 0, 0.88,
           "The file was opened in another mode: 'r' reads, 'w' writes from the start, 'a' "
           "appends, 'r+' reads and writes."),
    ON_SAY("MemoryError", "", 40, 0.8,
           "The program needs more memory than its limit: hold less at once, or allow more "
           "(--memory SIZE, \"limits\": {\"memory\"} in a request)."),
    ON_SAY("NotImplementedError", "", 0, 0.6,
           "The method is only declared: define it in the subclass."),
    ON_SAY(ANY_TYPE, "^[Cc]an't pickle", 0, 0.7,
           "Lambdas and functions inside functions cannot be sent to another process: define the "
           "function at the top level of the file."),
    ON_SAY("CalledProcessError", "", 0, 0.5,
           "The command itself failed: capture_output=True and text=True keep its output "
           "(error.stderr)."),
    END_OF_RULES,
};
