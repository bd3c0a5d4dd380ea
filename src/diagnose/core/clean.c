/* The text as the program printed it: without the colours of terminals, and without the prefixes
 * that containers, build services and logs put before each line. Runs in: keeper. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

/* The end of the escape sequence that begins at `at`. CSI ends with its last byte, OSC with BEL or
 * ST; others have two bytes. */
static size_t after_escape(struct piece text, size_t at)
{
    size_t i = at + 1;
    if (i >= text.len)
        return text.len;
    if (piece_byte(text, i) == '[') {
        for (i++; i < text.len && piece_byte(text, i) >= 0x20 && piece_byte(text, i) <= 0x3F;)
            i++;
        return i < text.len ? i + 1 : i;
    }
    if (piece_byte(text, i) != ']')
        return i + 1;
    for (i++; i < text.len && piece_byte(text, i) != '\n'; i++) {
        if (piece_byte(text, i) == '\a')
            return i + 1;
        if (piece_byte(text, i) == '\033' && i + 1 < text.len && piece_byte(text, i + 1) == '\\')
            return i + 2;
    }
    return i;
}

/* ISO 8601, with a zone or without, in brackets or not. */
static const char iso_time[] =
    "^(?:\\xEF\\xBB\\xBF)?\\[?\\d{4}-\\d\\d-\\d\\d[T "
    "]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?\\]?(?: \\d\\d[OE]\\+?)?(?: |$)";

/* Prefixes of lines. No error of a language begins like one of them. */
static const char *const prefixes[] = {
    /* docker compose, docker service logs: "web-1  | ", "app_web.1.x7k@host    | " */
    "^[A-Za-z][\\w.@-]* +\\| ?",
    /* kubectl logs --prefix */
    "^\\[pod/[\\w./-]+\\] ?",
    /* gh run view --log: job, step and time, with tabs between */
    "^[\\w .()/,-]+\\t[\\w .()/,-]+\\t(?=\\xEF\\xBB\\xBF|\\d{4}-)",
    /* times; GitLab writes the stream behind them */
    iso_time,
    /* the files of containerd: time, stream, F for a full line */
    "^std(?:out|err) [FP] ",
    /* syslog, journalctl: "Nov 15 20:31:05 host name[123]: " */
    "^[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d [\\w.-]+ [\\w./@-]+(?:\\[\\d+\\])?: ?",
    /* Heroku, Cloud Foundry: "app[web.1]: ", "[APP/PROC/WEB/0] ERR " */
    "^app\\[[\\w.-]+\\]: ?",
    "^\\[APP/PROC/[\\w/]+\\] ?(?:ERR|OUT) ",
    /* docker build: "#8 0.512 " */
    "^#\\d+ \\d+\\.\\d+ ",
    /* git push */
    "^remote: ?",
    /* GitHub Actions' and Azure's marks */
    "^##\\[(?:error|warning|debug|group)\\]",
    "^::(?:error|warning)[^:]*::",
    /* concurrently, and other runners that number their commands */
    "^\\[\\d{1,2}\\] ",
    /* turbo, nx: "web:test: " */
    "^(?:@[\\w-]+/)?[\\w-]+:(?:build|test|start|dev|lint|serve): ",
};

enum { PREFIXES_AT_ONCE = 4 }; /* such as a container's log inside a build service's log */

static struct piece without_prefix(struct diagnoser *g, struct piece line)
{
    for (int n = 0; n < PREFIXES_AT_ONCE; n++) {
        struct match m = { 0 };
        for (size_t i = 0; i < ARRAY_LEN(prefixes) && m.all.len == 0; i++)
            if (!match(g, prefixes[i], line, &m))
                m = (struct match){ 0 };
        if (m.all.len == 0)
            break;
        line = piece_skip(line, m.all.len);
    }
    return line;
}

/* Lines that such a program adds at the end. They are not part of the error message before them. */
static const char closing_lines[] =
    "^(?:"
    /* docker compose; GitHub Actions, with and without its mark; kubectl exec; Travis; go run */
    "[A-Za-z][\\w.-]* exited with code \\d+(?: \\(restarting\\))?|(?:Error: )?Process completed "
    "with exit code \\d+\\.|command terminated with exit code \\d+|The command \".*\" exited with "
    "\\d+\\.|exit status \\d+"
    /* make, systemd, npm, yarn, pnpm */
    "|g?make(?:\\[\\d+\\])?: \\*\\*\\* .*Error \\d+(?: \\(ignored\\))?|[\\w.@-]+\\.service: "
    "(?:Main process exited|Failed with result).*|npm (?:ERR!|error)(?: .*)?|error Command failed "
    "with exit code \\d+\\.|\\s*ELIFECYCLE\\s.*)\\s*$";

/* Removes escape sequences, and CRs before line ends. From the output of a jar only colours are
 * removed: a reader must be able to see every other sequence. */
static size_t plain(struct piece text, bool colours_alone, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len;) {
        size_t end = piece_byte(text, i) == '\033' ? after_escape(text, i) : i;
        bool colour = end > i &&
                      (piece_byte(text, end - 1) == 'm' || piece_byte(text, end - 1) == 'K');
        if (end > i && (colour || !colours_alone)) {
            i = end;
        } else if (piece_byte(text, i) == '\r' &&
                   (i + 1 == text.len || piece_byte(text, i + 1) == '\n')) {
            i++;
        } else {
            out[n++] = piece_byte(text, i++);
        }
    }
    return n;
}

struct piece cleaned(struct diagnoser *g, struct piece text, bool passed_on, char **ret_copy)
{
    bool escapes = text.len > 0 && (piece_has(text, "\033") || piece_has(text, "\r"));
    if (text.len == 0 || (!escapes && !passed_on))
        return text;
    char *copy = malloc(text.len + 1);
    if (!copy)
        return text;
    *ret_copy = copy;
    struct piece rest = piece_in(copy, plain(text, !passed_on, copy)), line;
    if (!passed_on)
        return rest;
    size_t n = 0;
    struct match m;
    /* npm repeats that a script failed; its own errors have a code. */
    bool of_npm = piece_has(rest, "npm ") &&
                  match_text(g, "npm (?:ERR!|error) (?:code E(?!LIFECYCLE)|Missing script)", rest,
                             &m);
    while (next_line(&rest, &line)) { /* a line only becomes shorter */
        struct piece left = without_prefix(g, line);
        if (!(of_npm && starts_with(left, "npm ")) && match(g, closing_lines, left, &m))
            continue;
        memmove(copy + n, piece_bytes(left), left.len);
        n += left.len;
        copy[n++] = '\n';
    }
    return piece_in(copy, n);
}
