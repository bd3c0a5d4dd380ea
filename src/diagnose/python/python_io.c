/* Files, standard input, recursion, event loops. */
#include <stdio.h>
#include <string.h>

#include "diagnose/python/python.h"

static void on_no_file(struct py *p)
{
    struct piece path = p->m.group[0];
    struct nearest n = { .name = piece_base(path) };
    for (size_t i = 0; i < p->in->n_sources; i++) {
        struct piece name = piece_of(p->in->sources[i].name);
        if (piece_same(piece_base(name), piece_base(path))) {
            suggest(p->d, 22, 0.93,
                    "The file is there as '%s', seen from /sandbox, where the program starts.",
                    p->in->sources[i].name);
            (void)suggest_swap(p->in, p->d, path, p->in->sources[i].name);
            return;
        }
        nearest_try(&n, piece_base(name));
    }
    if (n.best[0]) {
        suggest(p->d, 22, 0.92, "Beside the program there is '%s': did you mean that?", n.best);
        (void)suggest_swap(p->in, p->d, path, n.best);
        return;
    }
    if (piece_has(p->line, "subprocess") || piece_has(p->line, "Popen") ||
        piece_has(p->line, "run([")) {
        suggest(p->d, 39, 0.85,
                "'%.*s' is no program in this jar: what the host has in /usr is there, and nothing "
                "else.",
                P(path));
        p->d->sandbox = true;
        return;
    }
    if (starts_with(path, "/") && !starts_with(path, "/sandbox")) {
        suggest(p->d, 22, 0.85,
                "A jar has files of its own: what is on your machine is not in it. Send the file "
                "with the run (--file %.*s, \"files\" in a request) and open it by its name.",
                P(piece_base(path)));
        return;
    }
    suggest(p->d, 22, 0.85,
            "There is no '%.*s' in /sandbox, where the program starts: send it with the run "
            "(--file %.*s, \"files\" in a request), or write it first.",
            P(path), P(path));
}

static void on_recursion(struct py *p)
{
    struct diagnosis *d = p->d;
    const char *name = "";
    for (size_t i = 0; i < d->n_frames && !name[0];
         i++) /* not <genexpr> or <lambda> inside of it */
        if (d->frames[i].user && d->frames[i].function[0] != '<')
            name = d->frames[i].function;
    bool own = name[0] != '\0';
    suggest(d, 24, 0.9,
            "%s%s calls itself without an end: it needs a case that returns before the next call, "
            "and each call must come nearer to it%s.",
            own ? name : "A function", own ? "()" : "",
            piece_has(p->line, "self.") && own && piece_has(p->line, name)
                ? " (a property that reads itself does this too: use another name inside, self._x)"
                : "");
}

static void on_running_loop(struct py *p)
{
    struct match m;
    suggest(p->d, 26, 0.93, "An event loop runs already: inside `async def` await the coroutine.");
    if (match(p->g, "^(.*?)(?:asyncio\\.run|\\w+\\.run_until_complete)\\((.+)\\)(\\s*)$", p->line,
              &m))
        suggest_replacement(p->d, "%.*sawait %.*s", P(m.group[0]), P(m.group[1]));
}

static void on_thread(struct py *p)
{
    suggest(p->d, 40, 0.8,
            "Threads and processes are limited: use a pool of few, or allow more (--pids N).");
    p->d->category = CATEGORY_RESOURCE;
    p->d->sandbox = true;
}

const struct py_rule py_io_rules[] = {
    { "FileNotFoundError", "'([^']*)'$", .advise = on_no_file },
    { "IsADirectoryError", "'([^']*)'$", .rule = 22, .confidence = 0.8,
      .text = "'{1}' is a directory: name a file in it, or os.listdir() it." },
    { "FileExistsError", "'([^']*)'$", .rule = 22, .confidence = 0.85,
      .text = "'{1}' is there already: os.makedirs(path, exist_ok=True) does not mind; mode 'x' of "
              "open() does." },
    { "RecursionError", "", .advise = on_recursion },
    { "EOFError", "EOF when reading a line", .rule = 25, .confidence = 0.95,
      .text =
          "The program asks for input and none is left: give it standard input (echo TEXT | "
          "belljar run ..., --stdin FILE; \"stdin\" in a request), one line for each input()." },
    { "RuntimeError",
      "cannot be called from a running event loop|event loop is already running|Cannot run the "
      "event loop",
      .advise = on_running_loop },
    { "RuntimeError", "^no running event loop|no current event loop", .rule = 26,
      .confidence = 0.85,
      .text = "No event loop runs here: start with asyncio.run(main()), and make tasks inside of "
              "main()." },
    { "RuntimeError", "can't start new thread", .advise = on_thread },
    { "ValueError", "I/O operation on closed file", .confidence = 0.88,
      .text =
          "The file was closed before: `with` closes it where its block ends, so use it inside." },
    { "UnsupportedOperation", "not (?:readable|writable)", .confidence = 0.88,
      .text = "The file is open for the other direction: 'r' reads, 'w' writes anew, 'a' appends, "
              "'r+' does both." },
    { "MemoryError", "", .rule = 40, .confidence = 0.8,
      .text = "It asked for more memory than it may have: hold less at once, or allow more "
              "(--memory SIZE, \"limits\": {\"memory\"} in a request)." },
    { "NotImplementedError", "", .confidence = 0.6,
      .text = "The method is only declared: define it in the subclass that is used." },
    { NULL, "^[Cc]an't pickle", .confidence = 0.7,
      .text = "Lambdas and functions inside functions cannot be sent to another process: define it "
              "at the top of the file." },
    { "CalledProcessError", "", .confidence = 0.5,
      .text = "The command failed by itself: capture_output=True and text=True show what it "
              "printed (error.stderr)." },
    { 0 },
};
