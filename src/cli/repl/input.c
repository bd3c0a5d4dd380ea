#include "cli/repl/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"

enum { HISTORY_BYTES = 4 << 20, LINE_MAX_BYTES = 1 << 20 };

static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

void input_show(const char *bytes, size_t n)
{
    (void)!fd_write_all(1, bytes, n);
}

/* ---- the history file: an entry a line, with \n and \\ escaped ---- */

static int open_history(const char *language)
{
    char path[4096];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        (void)snprintf(path, sizeof path, "%s", state);
    else if (home && *home == '/')
        (void)snprintf(path, sizeof path, "%s/.local/state", home);
    else
        return -1;
    (void)mkdir(path, 0700);
    size_t n = strlen(path);
    (void)snprintf(path + n, sizeof path - n, "/belljar");
    (void)mkdir(path, 0700);
    n = strlen(path);
    (void)snprintf(path + n, sizeof path - n, "/history-%s", language);
    return open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static int load_line(struct editor *d, const char *line, size_t len, struct err *e)
{
    scoped(buf) text = { 0 };
    for (size_t i = 0; i < len; i++) {
        bool escaped = line[i] == '\\' && i + 1 < len;
        char c = !escaped ? line[i] : line[i + 1] == 'n' ? '\n' : line[i + 1];
        i += escaped;
        if (c && buf_add(&text, &c, 1, e))
            return -1;
    }
    return editor_remember(d, buf_str(&text), e);
}

static int load_history(struct input *in, struct err *e)
{
    scoped(buf) text = { 0 };
    struct stat st;
    if (in->history_fd < 0 || fstat(in->history_fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    if (st.st_size > HISTORY_BYTES)
        (void)lseek(in->history_fd, -(off_t)HISTORY_BYTES, SEEK_END);
    if (fd_read_to_buf(in->history_fd, 2 * (size_t)HISTORY_BYTES, &text, e))
        return -1;
    for (size_t at = 0; at < text.len;) {
        const char *newline = memchr(text.data + at, '\n', text.len - at);
        size_t end = newline ? (size_t)(newline - text.data) : text.len;
        if (load_line(&in->editor, text.data + at, end - at, e))
            return -1;
        at = end + 1;
    }
    return 0;
}

void input_remember(struct input *in, const char *text)
{
    scoped(buf) line = { 0 };
    struct err e;
    if (editor_remember(&in->editor, text, &e) || in->history_fd < 0)
        return;
    for (; *text; text++)
        if (*text == '\n'   ? buf_add(&line, "\\n", 2, &e)
            : *text == '\\' ? buf_add(&line, "\\\\", 2, &e)
                            : buf_add(&line, text, 1, &e))
            return;
    if (buf_add(&line, "\n", 1, &e) == 0)
        (void)!fd_write_all(in->history_fd, line.data, line.len);
}

/* ---- the terminal ---- */

static void set_raw(const struct input *in)
{
    struct termios raw = in->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | BRKINT);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(0, TCSADRAIN, &raw);
}

int input_open(struct input *in, const char *language, struct err *e)
{
    const char *term = getenv("TERM");
    in->editor.syntax = syntax_of(language);
    in->editor.colour = !getenv("NO_COLOR");
    in->history_fd = -1;
    in->edits = isatty(0) && isatty(1) && term && *term && strcmp(term, "dumb") != 0 &&
                tcgetattr(0, &in->before) == 0;
    if (!in->edits)
        return 0;
    in->history_fd = open_history(language);
    set_raw(in);
    return load_history(in, e);
}

void input_done(struct input *in)
{
    if (in->edits)
        (void)tcsetattr(0, TCSADRAIN, &in->before);
    editor_done(&in->editor);
    buf_done(&in->ahead);
    fd_close(&in->history_fd);
}

void input_resume(struct input *in)
{
    if (in->edits)
        set_raw(in);
}

/* ---- bytes ---- */

/* False at the end of the input. */
static bool read_ahead(struct input *in)
{
    char bytes[4096];
    struct err e;
    ssize_t n = read(0, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
        return true;
    in->ended = n <= 0 || buf_add(&in->ahead, bytes, (size_t)n, &e);
    return !in->ended;
}

bool input_interrupts(struct input *in)
{
    const char *from = in->ahead.data + in->ahead_at;
    const char *last = in->edits && in->ahead.len > in->ahead_at
                           ? memrchr(from, '\x03', in->ahead.len - in->ahead_at)
                           : NULL;
    if (!last)
        return false;
    /* The person has changed her mind about the bytes before it, too. */
    in->ahead_at += (size_t)(last + 1 - from);
    return true;
}

bool input_typed(struct input *in)
{
    return read_ahead(in) && input_interrupts(in);
}

enum image_protocol input_images(struct input *in)
{
    enum { PATIENCE_MS = 3000 };
    enum image_protocol p = IMAGES_NONE;
    uint64_t start = clock_ms(), waited = 0;
    if (!in->edits || images_hinted() == IMAGES_NONE)
        return IMAGES_NONE;
    input_show(images_question, strlen(images_question));
    /* Bytes that are typed meanwhile are kept. A late answer is a key that the editor ignores. */
    while (waited < PATIENCE_MS && !images_answered(&in->ahead, &p)) {
        struct pollfd terminal = { 0, POLLIN, 0 };
        if (poll(&terminal, 1, (int)(PATIENCE_MS - waited)) > 0 && !read_ahead(in))
            break;
        waited = clock_ms() - start;
    }
    return p;
}

/* Waits for bytes, and answers the other descriptors meanwhile. False: there is no more input. */
static bool wait_for_bytes(struct input *in)
{
    struct pollfd polls[1 + INPUT_WATCHED] = { { 0, POLLIN, 0 } };
    for (size_t i = 0; i < INPUT_WATCHED; i++)
        polls[1 + i] = (struct pollfd){ in->watch ? in->watch->fds[i] : -1, POLLIN, 0 };
    if (poll(polls, ARRAY_LEN(polls), -1) < 0)
        return errno == EINTR;
    for (size_t i = 0; i < INPUT_WATCHED; i++)
        if (in->watch && polls[1 + i].revents && !in->watch->on_ready(in->watch->arg, i))
            return false;
    return !polls[0].revents || read_ahead(in);
}

static bool has_ahead(const struct input *in)
{
    return in->ahead_at < in->ahead.len;
}

/* The next typed byte; false at the end. */
static bool next_byte(struct input *in, char *ret)
{
    while (!has_ahead(in)) {
        in->ahead.len = in->ahead_at = 0;
        if (in->ended || !wait_for_bytes(in))
            return false;
    }
    *ret = in->ahead.data[in->ahead_at++];
    return true;
}

static int draw(struct editor *d, bool last, struct err *e)
{
    scoped(buf) out = { 0 };
    struct winsize size = { 0 };
    d->columns = ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    d->rows = size.ws_row ? size.ws_row : 24;
    if (editor_draw(d, last, &out, e))
        return -1;
    input_show(out.data, out.len);
    return 0;
}

static int edit(struct input *in, bool hidden, input_on_tab *on_tab, void *arg,
                enum input_event *ret_event, struct err *e)
{
    struct editor *d = &in->editor;
    enum editor_event event = EDITOR_MORE;
    while (event == EDITOR_MORE || event == EDITOR_COMPLETE) {
        char byte;
        /* A paste is drawn once, at its end. */
        bool quiet = hidden || d->pasting || has_ahead(in);
        if (!quiet && draw(d, false, e))
            return -1;
        event = next_byte(in, &byte) ? editor_byte(d, byte, e) : EDITOR_END;
        if (event == EDITOR_COMPLETE && on_tab && on_tab(arg, in, e))
            return -1;
    }
    *ret_event = event == EDITOR_ENTER       ? INPUT_TEXT
                 : event == EDITOR_INTERRUPT ? INPUT_INTERRUPTED
                                             : INPUT_END;
    if (!hidden)
        return draw(d, true, e);
    input_show("\r\n", 2);
    return 0;
}

/* ---- without an editor ---- */

/* One line of stdin, without its end. False at the end. */
static bool read_line(struct input *in, struct buf *line, struct err *e)
{
    char c;
    size_t before = line->len;
    bool more;
    while ((more = next_byte(in, &c)) && c != '\n' && line->len < LINE_MAX_BYTES)
        if (buf_add(line, &c, 1, e))
            return false;
    return more || line->len > before;
}

static int read_plainly(struct input *in, const char *prompt, const char *more_prompt,
                        bool one_line, struct buf *ret, enum input_event *ret_event, struct err *e)
{
    bool typed = isatty(0);
    if (typed)
        input_show(prompt, strlen(prompt));
    bool any = read_line(in, ret, e);
    while (any && !one_line && scan_goes_on(in->editor.syntax, buf_str(ret), ret->len)) {
        if (typed)
            input_show(more_prompt, strlen(more_prompt));
        if (buf_add(ret, "\n", 1, e))
            return -1;
        if (!read_line(in, ret, e))
            break;
    }
    *ret_event = any ? INPUT_TEXT : INPUT_END;
    return 0;
}

/* ---- both ---- */

int input_read(struct input *in, const char *prompt, const char *more_prompt, input_on_tab *on_tab,
               void *arg, struct buf *ret, enum input_event *ret_event, struct err *e)
{
    struct editor *d = &in->editor;
    ret->len = 0;
    if (!in->edits)
        return read_plainly(in, prompt, more_prompt, false, ret, ret_event, e);
    d->prompt = prompt;
    d->more_prompt = more_prompt;
    editor_begin(d);
    input_show(paste_on, strlen(paste_on));
    int rc = edit(in, false, on_tab, arg, ret_event, e);
    input_show(paste_off, strlen(paste_off));
    return rc || buf_add(ret, buf_str(&d->text), d->text.len, e) ? -1 : 0;
}

int input_line(struct input *in, const char *prompt, bool hidden, struct buf *ret,
               enum input_event *ret_event, struct err *e)
{
    struct editor *d = &in->editor;
    const struct syntax *syntax = d->syntax;
    bool colour = d->colour;
    ret->len = 0;
    if (!in->edits)
        return read_plainly(in, prompt, "", true, ret, ret_event, e);
    d->prompt = prompt;
    d->more_prompt = "";
    d->syntax = syntax_of("");
    d->colour = false;
    editor_begin(d);
    if (hidden)
        input_show(prompt, strlen(prompt));
    int rc = edit(in, hidden, NULL, NULL, ret_event, e);
    d->syntax = syntax;
    d->colour = colour;
    return rc || buf_add(ret, buf_str(&d->text), d->text.len, e) ? -1 : 0;
}
