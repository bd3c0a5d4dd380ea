/* `belljar top`: runs, sessions and warm starts of the service while they change. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands/service_line.h"
#include "cli/commands/top_view.h"
#include "client/client.h"

enum { INTERVAL_MS = 1000, INTERVAL_MIN_MS = 100, INTERVAL_MAX_MS = 3600000 };

struct top_options {
    struct service_choice service;
    uint64_t interval_ms;
    bool once;
};

static void top_init(void *options)
{
    ((struct top_options *)options)->interval_ms = INTERVAL_MS;
}

static int set_interval(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    uint64_t ms;
    (void)row;
    if (unit_parse(UNIT_MS, value, &ms) || ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS)
        return err_set(e, ERR_USAGE, 0, "--interval takes 100ms to 1h, and not '%s'",
                       QUOTED(value));
    ((struct top_options *)options)->interval_ms = ms;
    return 0;
}

#define AT(member) offsetof(struct top_options, member)
static const struct arg_row rows[] = {
    { "once", .offset = AT(once), .help = "print the state once, and end" },
    { "interval", "TIME", .apply = set_interval, .default_text = "1s",
      .help = "the time between two looks" },
    SERVICE_ROWS(struct top_options, service),
};
#undef AT

struct top {
    const struct top_options *options;
    bool terminal;
    long long accepted; /* runs at the last look; -1: there was none */
    uint64_t at_us;
};

static double rate(struct top *t, const json_t *stats)
{
    const json_t *since = json_object_get(stats, "since_start");
    long long accepted = (long long)json_integer_value(json_object_get(since, "accepted"));
    uint64_t now_us = clock_us();
    double elapsed_s = (double)(now_us - t->at_us) / 1e6;
    double found = t->accepted < 0 ? -1 : (double)(accepted - t->accepted) / elapsed_s;
    t->accepted = accepted;
    t->at_us = now_us;
    return found;
}

static int look(struct client *c, struct top *t, struct buf *text, struct err *e)
{
    json_auto_t *stats = NULL, *running = NULL, *recent = NULL, *sessions = NULL;
    if (service_line_ask(c, "GET", "/v1/stats", NULL, &stats, e) ||
        service_line_ask(c, "GET", "/v1/runs?state=running&limit=50", NULL, &running, e) ||
        service_line_ask(c, "GET", "/v1/runs?state=finished&limit=8", NULL, &recent, e) ||
        service_line_ask(c, "GET", "/v1/sessions", NULL, &sessions, e))
        return -1;
    const struct top_state state = { .stats = stats,
                                     .running = running,
                                     .recent = recent,
                                     .sessions = sessions,
                                     .runs_per_second = rate(t, stats) };
    return top_add(text, &state, e);
}

/* From the upper left corner; the rest of each row and of the screen is cleared. */
static int draw(const struct buf *text, struct err *e)
{
    struct winsize size = { 0 };
    scoped(buf) frame = { 0 };
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 && size.ws_col > 0;
    if (buf_addf(&frame, e, "\033[H") ||
        top_clip(&frame, buf_str(text), known ? size.ws_row - 1U : 23, known ? size.ws_col : 80,
                 "\033[K\r\n", e) ||
        buf_addf(&frame, e, "\033[J"))
        return -1;
    (void)fwrite(buf_str(&frame), 1, frame.len, stdout);
    (void)fflush(stdout);
    return 0;
}

/* True if the person quits: q, Esc or Ctrl-C. Any other key looks again at once. */
static bool wait_for_key(uint64_t ms)
{
    char keys[64];
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    if (poll(&p, 1, (int)ms) <= 0)
        return false;
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
    return n <= 0 || keys[0] == 'q' || keys[0] == 3 || (n == 1 && keys[0] == 27);
}

static int refresh(struct client *c, struct top *t, struct err *e)
{
    do {
        scoped(buf) text = { 0 };
        if (look(c, t, &text, e) || draw(&text, e))
            return -1;
    } while (!wait_for_key(t->options->interval_ms));
    return 0;
}

/* The other screen of the terminal, without a cursor; keys arrive one by one. */
static int on_screen(struct client *c, struct top *t, struct err *e)
{
    struct termios before, raw;
    bool saved = tcgetattr(STDIN_FILENO, &before) == 0;
    raw = before;
    if (saved) {
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    (void)printf("\033[?1049h\033[?25l");
    int rc = refresh(c, t, e);
    (void)printf("\033[?25h\033[?1049l");
    (void)fflush(stdout);
    if (saved)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return rc;
}

static int print_on(struct client *c, struct top *t, struct err *e)
{
    for (;;) {
        scoped(buf) text = { 0 };
        if (look(c, t, &text, e))
            return -1;
        (void)fwrite(buf_str(&text), 1, text.len, stdout);
        (void)fflush(stdout);
        if (t->options->once)
            return 0;
        (void)putchar('\n');
        (void)usleep((useconds_t)(t->options->interval_ms * 1000));
    }
}

static int top_line(struct client *c, void *context, struct err *e)
{
    struct top *t = context;
    t->accepted = -1;
    return t->terminal ? on_screen(c, t, e) : print_on(c, t, e);
}

static int top_run(void *options, int argc, char **argv, struct err *e)
{
    const struct top_options *o = options;
    struct top t = { .options = o,
                     .terminal = !o->once && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
    (void)argc;
    (void)argv;
    return service_follow(&o->service, top_line, &t, e);
}

const struct cli_command top_command = {
    .name = "top",
    .summary = "show runs, sessions and warm starts of the service as they change",
    .usage = (const char *const[]){ "[--interval TIME]", "--once", NULL },
    .description = "On a terminal, q ends it. If the service ends, it waits for the next one.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .examples = (const char *const[]){ "Print the state once:", "belljar top --once", NULL },
    .options_size = sizeof(struct top_options),
    .init = top_init,
    .run = top_run,
};
