#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdio.h"
#include "base/moment.h"

static enum log_level lowest = LOG_INFO;
static bool priorities;

static const char *const level_words[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};

/* The priorities of syslog(3). */
static const char *const level_priorities[] = {
    [LOG_DEBUG] = "<7>",
    [LOG_INFO] = "<6>",
    [LOG_WARN] = "<4>",
    [LOG_ERROR] = "<3>",
};

void log_set_level(enum log_level level)
{
    lowest = level;
}

void log_set_priorities(bool on)
{
    priorities = on;
}

static size_t write_head(char *line, size_t size, enum log_level level, const char *event)
{
    char now[MOMENT_SIZE];
    int n = snprintf(line, size, "%s%s %s %s ", priorities ? level_priorities[level] : "",
                     moment_format(clock_unix_ms(), now), level_words[level], event);
    return n > 0 ? (size_t)n : 0;
}

void log_event(enum log_level level, const char *event, const char *fmt, ...)
{
    char line[1024];
    if (level < lowest)
        return;
    size_t n = write_head(line, sizeof line - 1, level, event);
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(line + n, sizeof line - 1 - n, fmt, args);
    va_end(args);
    if (more > 0)
        n = n + (size_t)more < sizeof line - 1 ? n + (size_t)more : sizeof line - 2;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    line[n++] = '\n';
    (void)!fd_write_all(2, line, n); /* one write: lines of two processes do not mix */
}

void log_error(enum log_level level, const char *event, const struct err *e)
{
    char text[sizeof e->text];
    (void)snprintf(text, sizeof text, "%s", e->text);
    for (char *p = text; *p; p++)
        if (*p == '"')
            *p = '\'';
    log_event(level, event, "code=%s error=\"%s\"", err_name(e->code), text);
}
