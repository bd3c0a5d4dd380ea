/* cli/repl/input.h — the cells that a person types, or a file has. Runs in: main. */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/repl/editor.h"
#include "cli/repl/images.h"

enum { INPUT_WATCHED = 2 };
/* Other descriptors that are watched while a person types. */
struct input_watch {
    int fds[INPUT_WATCHED];
    bool (*on_ready)(void *arg, size_t i); /* false: no more input is wanted */
    void *arg;
};

struct input {
    struct editor editor;
    const struct input_watch *watch;
    bool edits;            /* stdin and stdout are terminals that understand escape sequences */
    struct termios before; /* how we found the terminal */
    struct buf ahead;      /* bytes that were read and not used yet */
    size_t ahead_at;
    int history_fd; /* -1: none */
    bool ended;     /* there is no more input */
};

/* A history that cannot be opened is left out. */
[[nodiscard]] int input_open(struct input *in, const char *language, struct err *e);
void input_done(struct input *in);
/* After a stop (SIGCONT): a shell has set the terminal to its own mode. */
void input_resume(struct input *in);

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
/* True if Ctrl-C is among the bytes that were typed ahead. It is taken, and the bytes before it. */
bool input_interrupts(struct input *in);
/* How the terminal shows images. A terminal that the environment names is asked. */
enum image_protocol input_images(struct input *in);
void input_remember(struct input *in, const char *text);
/* Writes to the terminal. */
void input_show(const char *bytes, size_t n);
