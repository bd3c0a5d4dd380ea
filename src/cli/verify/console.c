/* Console blocks: "$ command", its output, the next command. The commands of a block run in one
 * shell, so that a directory or a variable holds for the next command. The script prints a line
 * that cannot be guessed after each command, and so the output can be divided. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "cli/verify/check.h"

struct console_line {
    const char *at;
    size_t n; /* without its end */
};

static bool starts(struct console_line l, const char *word)
{
    size_t n = strlen(word);
    return l.n >= n && memcmp(l.at, word, n) == 0;
}

/* True if the shell would wait for another line: an open quote, or a line that ends with a
 * backslash, a pipe or an operator. */
static bool is_open(const struct buf *command)
{
    char quote = '\0';
    const char *s = buf_str(command);
    size_t n = command->len;
    while (n > 0 && strchr(" \t\n", s[n - 1]))
        n--;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' && quote != '\'') {
            if (++i == n)
                return true;
        } else if (quote ? s[i] == quote : s[i] == '\'' || s[i] == '"') {
            quote = quote ? '\0' : s[i];
        }
    }
    return quote || (n > 0 && s[n - 1] == '|') || (n > 1 && memcmp(s + n - 2, "&&", 2) == 0);
}

static int add_line(struct buf *b, struct console_line l, size_t from, struct err *e)
{
    if (from > l.n)
        from = l.n;
    return buf_add(b, l.at + from, l.n - from, e) || buf_add(b, "\n", 1, e) ? -1 : 0;
}

/* One line of the block: a command, its continuation or its output. */
static int take_line(struct check *c, struct console_line l, size_t line, bool *open, struct err *e)
{
    struct step *s = c->n_steps ? &c->steps[c->n_steps - 1] : NULL;
    bool command = starts(l, "$ ") || (l.n == 1 && *l.at == '$');
    bool more = s && (*open || (!s->compared && starts(l, "> ")));
    if (!command && !s)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the first line of a console block is a command: '$ command' is accepted");
    if (more) {
        if (add_line(&s->command, l, starts(l, "> ") ? 2 : 0, e))
            return -1;
        *open = is_open(&s->command);
        return 0;
    }
    if (!command) {
        s->compared = true;
        return add_line(&s->expected, l, 0, e);
    }
    s = check_add_step(c, e);
    if (!s)
        return -1;
    s->line = line;
    if (add_line(&s->command, l, 2, e))
        return -1;
    *open = is_open(&s->command);
    return 0;
}

int console_read(struct check *c, const char *text, size_t len, size_t line, struct err *e)
{
    bool open = false;
    for (size_t at = 0; at < len; line++) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - text) : len;
        if (take_line(c, (struct console_line){ text + at, end - at }, line, &open, e))
            return -1;
        at = end + 1;
    }
    return 0;
}

/* 'text', with each quote as '\''. */
static int add_quoted(struct buf *b, const char *text, size_t len, struct err *e)
{
    if (buf_add(b, "'", 1, e))
        return -1;
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\'' ? buf_add(b, "'\\''", 4, e) : buf_add(b, text + i, 1, e))
            return -1;
    return buf_add(b, "'", 1, e);
}

int console_add_script(const struct check *c, struct buf *script, struct err *e)
{
    /* eval: a syntax error ends its own command only */
    if (buf_addf(script, e, "exec 2>&1; printf '\\n%%s 0\\n' %s\n", c->marker))
        return -1;
    for (size_t i = 0; i < c->n_steps; i++)
        if (buf_add(script, "eval ", 5, e) ||
            add_quoted(script, buf_str(&c->steps[i].command), c->steps[i].command.len, e) ||
            buf_addf(script, e, "\nprintf '\\n%%s %%d\\n' %s $?\n", c->marker))
            return -1;
    return 0;
}

/* The next marker from `at` on; false: there is none. */
static bool next_marker(const char *output, size_t len, size_t at, const char *marker,
                        size_t *ret_start, size_t *ret_after, int *ret_status)
{
    char wanted[48];
    int n = snprintf(wanted, sizeof wanted, "\n%s ", marker);
    const char *found = memmem(output + at, len - at, wanted, (size_t)n);
    if (!found)
        return false;
    size_t after = (size_t)(found - output) + (size_t)n;
    char *end;
    *ret_status = (int)strtol(output + after, &end, 10);
    *ret_start = (size_t)(found - output);
    *ret_after = (size_t)(end - output) + (*end == '\n');
    return true;
}

int console_split(struct check *c, const char *output, size_t len, struct err *e)
{
    size_t start, at = 0;
    int status;
    /* The marker before the first command: the blocks that it continues have their own. */
    if (!next_marker(output, len, 0, c->marker, &start, &at, &status))
        return 0;
    for (size_t i = 0; i < c->n_steps; i++) {
        struct step *s = &c->steps[i];
        size_t from = at;
        s->reached = next_marker(output, len, at, c->marker, &start, &at, &s->status);
        if (buf_add(&s->got, output + from, (s->reached ? start : len) - from, e))
            return -1;
        if (!s->reached)
            break;
    }
    return 0;
}
