/* Rules for JavaScript: errors of the functions of Node. Runs in: keeper. */
#include "diagnose/node/node.h"

/* bus.on("x", handler()): the result of the call is passed, and not the function. `call` has the name and the
 * arguments. */
static void say_called(const struct advice *a, const struct match *call)
{
    struct piece name = call->group[0], arguments = call->group[1];
    if (piece_trim(arguments).len == 0) {
        suggest(a->d, 10, 0.94,
                "%.*s() is called here, and its result is passed: pass the function itself, %.*s "
                "without brackets.",
                P(name), P(name));
        suggest_replacement(a->d, "%.*s%.*s", P(piece_cut(a->line, piece_end(a->line, name))),
                            P(piece_skip(a->line, piece_end(a->line, arguments) + 1)));
        return;
    }
    suggest(
        a->d, 10, 0.94,
        "%.*s(%.*s) is called at once, and its result is passed: pass a function that calls it, "
        "() => %.*s(%.*s).",
        P(name), P(arguments), P(name), P(arguments));
    size_t at = piece_offset(a->line, name);
    suggest_replacement(a->d, "%.*s() => %.*s", P(piece_cut(a->line, at)),
                        P(piece_skip(a->line, at)));
}

/* The functions of timers take their function first. False when the line calls none. */
static bool is_timer(const struct advice *a)
{
    struct match m, timer;
    if (!match(a->g,
               "\\b(setTimeout|setInterval|setImmediate|queueMicrotask|process\\.nextTick)\\(",
               a->line, &timer))
        return false;
    if (piece_has(a->message, "Received undefined") &&
        match(a->g, "^\\s*(?!function\\b)([\\w$.]+)\\(([^()]*)\\)\\s*[,)]",
              piece_after(a->line, timer.all), &m))
        say_called(a, &m);
    else
        suggest(a->d, 10, 0.93, "%.*s() takes a function first: %.*s(() => { ... }%s).",
                P(timer.group[0]), P(timer.group[0]),
                piece_is(timer.group[0], "setTimeout") || piece_is(timer.group[0], "setInterval")
                    ? ", milliseconds"
                    : "");
    return true;
}

static void on_callback(const struct advice *a)
{
    struct match m;
    if (is_timer(a))
        return;
    if (piece_has(a->message, "Received undefined") &&
        match(a->g, ",\\s*(?!function\\b)([\\w$.]+)\\(([^()]*)\\)\\s*\\)\\s*;?\\s*$", a->line,
              &m)) {
        say_called(a, &m);
        return;
    }
    if (match(a->g, "\\.(?:on|once|addListener|addEventListener|prependListener)\\(", a->line, &m))
        suggest(a->d, 10, 0.93,
                "The listener is no function: pass one as the last argument, (value) => { ... }.");
    else
        suggest(a->d, 10, 0.93,
                "The function wants a callback as its last argument: pass one, (error, data) => { "
                "... }, or use the version with Sync or of fs/promises.");
}

static void on_path(const struct advice *a)
{
    struct match m;
    if (match_text(a->g, "process\\.argv\\[(\\d)\\]", text_of_source(a->file), &m))
        suggest(a->d, 9, 0.9,
                "The argument \"%.*s\" is undefined: the program was started without arguments, so "
                "process.argv[%.*s] "
                "has no value. Pass it (--arg, \"args\" in a request), or give a default, ?? "
                "\"file.txt\".",
                P(a->m.group[0]), P(m.group[0]));
    else if (match_text(a->g, "process\\.env\\.(\\w+)", text_of_source(a->file), &m))
        suggest(a->d, 28, 0.88,
                "The argument \"%.*s\" is undefined: is the variable %.*s of the environment set? "
                "Pass it (--env), or "
                "give a default with ??.",
                P(a->m.group[0]), P(m.group[0]));
    else
        suggest(a->d, 28, 0.9,
                "The argument \"%.*s\" is undefined: a part of the path has no value. Check the "
                "names in this line, "
                "and give a default with ??.",
                P(a->m.group[0]));
}

static void on_url(const struct advice *a)
{
    struct match m;
    struct piece address = a->m.group[0];
    if (address.len == 0 && match(a->g, "(?:URL|fetch)\\(\\s*['\"`]([^'\"`]*)['\"`]", a->line, &m))
        address = m.group[0];
    if (match(a->g, "^/", address, &m) || address.len == 0)
        suggest(
            a->d, 13, 0.92,
            "A relative address needs a base: write the whole, http://host/path, or new URL(path, "
            "\"http://host\").");
    else
        suggest(a->d, 13, 0.9,
                "'%.*s' is not a whole address: it begins with a scheme, https://%.*s.", P(address),
                P(address));
}

#include "diagnose/node_api.rules.h" /* generated */
