/* cli/repl/editor.h — a line editor: keys in, text and a screen out. Runs in: main. It makes no
 * system call: the caller reads the terminal and writes the screen, so that tests can play both.
 *
 * It has several lines, UTF-8, colours, a history, completion and bracketed paste. docs/decisions.md
 * says why it is ours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/repl/scan.h"

enum editor_event {
    EDITOR_MORE,      /* the key was handled, or is not complete */
    EDITOR_ENTER,     /* the text is complete */
    EDITOR_COMPLETE,  /* Tab: editor_replace() takes the completion */
    EDITOR_INTERRUPT, /* Ctrl-C */
    EDITOR_END,       /* Ctrl-D on an empty line */
};

enum { EDITOR_HISTORY_MAX = 1000, EDITOR_TEXT_MAX = 1 << 20 };

struct editor {
    const struct syntax *syntax;
    bool colour;
    const char *prompt, *more_prompt; /* as wide as each other */
    int columns, rows;                /* of the terminal */
    struct buf text;
    size_t cursor;  /* a byte of the text, at the start of a character */
    struct buf cut; /* the text that Ctrl-K and Ctrl-U removed */

    char **history; /* the oldest first; NULL-terminated */
    size_t n_history, history_at;
    char *unfinished; /* the text that was typed before the history was shown */

    char key[16]; /* the bytes of an incomplete key */
    size_t key_len;
    bool pasting;
    size_t shown_row; /* the row of the cursor, below the first row of the screen part */
    bool swallow;     /* the next \n belongs to a \r */
    bool clears;      /* the next drawing begins on an empty screen */
};

void editor_done(struct editor *d);
/* Begins with an empty text. */
void editor_begin(struct editor *d);
/* Handles one byte from the terminal. */
enum editor_event editor_byte(struct editor *d, char byte, struct err *e);
/* Replaces bytes of the text and puts the cursor behind them. */
[[nodiscard]] int editor_replace(struct editor *d, size_t from, size_t to, const char *by, size_t n,
                                 struct err *e);
[[nodiscard]] int editor_remember(struct editor *d, const char *text, struct err *e);
/* Appends the bytes that bring the screen up to date. `last`: the cursor goes below the text. */
[[nodiscard]] int editor_draw(struct editor *d, bool last, struct buf *out, struct err *e);

/* The columns of a text on the terminal. */
size_t text_columns(const char *text, size_t len);
