/* cli/repl/input.h — the cells that a person types, or a file has. Runs in: main. */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/repl/editor.h"

struct input {
    struct editor editor;
    bool edits;            /* stdin and stdout are terminals that understand escape sequences */
    struct termios before; /* how we found the terminal */
    struct buf ahead;      /* bytes that were typed while a cell ran */
    int history_fd;        /* -1: none */
    bool ended;            /* there is no more input */
};

/* A history that cannot be opened is left out. */
[[nodiscard]] int input_open(struct input *in, const char *language, struct err *e);
void input_done(struct input *in);

enum input_event { INPUT_TEXT, INPUT_INTERRUPTED, INPUT_END };
/* Completes the text of the editor at its cursor. */
typedef int input_on_tab(void *arg, struct input *in, struct err *e);

/* Reads a cell: as many lines as the language needs. on_tab: NULL for a line that is no code. */
[[nodiscard]] int input_read(struct input *in, const char *prompt, const char *more_prompt,
                             input_on_tab *on_tab, void *arg, struct buf *ret,
                             enum input_event *ret_event, struct err *e);
/* One line for a program; hidden: nothing is shown. */
[[nodiscard]] int input_line(struct input *in, const char *prompt, bool hidden, struct buf *ret,
                             enum input_event *ret_event, struct err *e);
/* Takes bytes of the terminal while a cell runs. True: Ctrl-C was among them. */
bool input_typed(struct input *in);
void input_remember(struct input *in, const char *text);
/* Writes to the terminal. */
void input_show(const char *bytes, size_t n);
