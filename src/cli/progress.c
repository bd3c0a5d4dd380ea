#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdio.h"

enum { QUIET_MS = 2000, REDRAW_MS = 100, LINE_MS = 10000, COLUMNS = 80, LINE_SIZE = 512 };

void progress_begin(struct progress *p, int fd, const char *what)
{
    struct winsize size = { 0 };
    bool terminal = fd >= 0 && isatty(fd);
    bool known = terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    uint64_t now = clock_ms();
    *p = (struct progress){ .what = what,
                            .fd = fd,
                            .terminal = terminal,
                            .columns = known ? size.ws_col : COLUMNS,
                            .began_ms = now,
                            .next_ms = now + QUIET_MS };
}

void progress_clear(struct progress *p)
{
    static const char clear[] = "\r\033[K";
    if (p->drawn)
        (void)!fd_write_all(p->fd, clear, sizeof clear - 1);
    p->drawn = false;
}

static void make_line(const struct progress *p, size_t done, size_t total, const char *detail,
                      char *out, size_t size)
{
    uint64_t seconds = (clock_ms() - p->began_ms) / 1000;
    char count[48] = "";
    if (total > 0)
        (void)snprintf(count, sizeof count, " %zu of %zu,", done, total);
    (void)snprintf(out, size, "%s:%s %llu s%s%s", p->what, count, (unsigned long long)seconds,
                   detail ? "  " : "", detail ? detail : "");
}

void progress_update(struct progress *p, size_t done, size_t total, const char *detail)
{
    char text[LINE_SIZE], line[LINE_SIZE + 32];
    uint64_t now = clock_ms();
    if (p->fd < 0 || now < p->next_ms)
        return;
    p->next_ms = now + (p->terminal ? REDRAW_MS : LINE_MS);
    make_line(p, done, total, detail, text, sizeof text);
    int width = p->columns > 1 && p->columns < LINE_SIZE ? (int)p->columns - 1 : LINE_SIZE;
    int n = p->terminal ? snprintf(line, sizeof line, "\r%.*s\033[K", width, text)
                        : snprintf(line, sizeof line, "belljar: %s\n", text);
    (void)!fd_write_all(p->fd, line, (size_t)n);
    p->drawn = p->terminal;
}

int progress_wait_ms(const struct progress *p)
{
    uint64_t now = clock_ms();
    if (p->fd < 0)
        return -1;
    return p->next_ms > now ? (int)(p->next_ms - now) : 0;
}
