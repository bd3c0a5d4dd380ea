#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *name;
    int http;
    int exit_status;
    enum err_blame blame;
} err_rows[] = {
#define X(id, name_, http_, exit_, blame_) [id] = { name_, http_, exit_, blame_ },
    ERR_TABLE(X)
#undef X
};

int err_set(struct err *e, enum err_code code, int sys, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int used = vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    e->code = code;
    e->sys = sys;
    if (sys != 0 && used >= 0 && (size_t)used < sizeof e->text)
        (void)snprintf(e->text + used, sizeof e->text - (size_t)used, ": %s", strerror(sys));
    return -1;
}

int err_no_memory(struct err *e, const char *purpose)
{
    return err_set(e, ERR_NO_MEMORY, 0, "no memory for %s", purpose);
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char inner[sizeof e->text];
    memcpy(inner, e->text, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    int used = vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    if (used >= 0 && (size_t)used + 2 < sizeof e->text) {
        size_t room = sizeof e->text - (size_t)used;
        (void)snprintf(e->text + used, room, ": %.*s", (int)room - 3, inner);
    }
    return -1;
}

/* A code can arrive over the wire; one that is out of range must not read past the table. */
static enum err_code known(enum err_code code)
{
    return (unsigned)code < ERR_COUNT_ ? code : ERR_PROTOCOL;
}

const char *err_name(enum err_code code)
{
    return err_rows[known(code)].name;
}

int err_exit_status(enum err_code code)
{
    return err_rows[known(code)].exit_status;
}

int err_http_status(enum err_code code)
{
    return err_rows[known(code)].http;
}

enum err_blame err_blame(enum err_code code)
{
    return err_rows[known(code)].blame;
}

const char *err_shown(const struct err *e, char *out, size_t out_size)
{
    return err_blame(e->code) == BLAME_CALLER ? e->text : text_hide_paths(e->text, out, out_size);
}
