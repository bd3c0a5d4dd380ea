#include "guests/sql/pg_state.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "image/image.h"

enum { SETTINGS_MAX = 64 << 10 };

bool pg_front_is_whole(const struct pg_front *f, uint64_t file_bytes)
{
    return memcmp(f->magic, PG_FRONT_MAGIC, sizeof f->magic) == 0 && f->bytes == file_bytes &&
           f->state_at >= IMAGE_FRONT && f->state_at <= f->bytes &&
           f->state_bytes == f->bytes - f->state_at && f->state_bytes <= PG_STATE_MAX &&
           f->zero == 0;
}

int pg_state_add(struct buf *state, const char *statement, struct err *e)
{
    size_t n = strlen(statement);
    uint32_t length = (uint32_t)n;
    if (n > PG_STATE_MAX || state->len + n + sizeof length > PG_STATE_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the settings and prepared statements of the connection need more than %d "
                       "bytes",
                       PG_STATE_MAX);
    return buf_add(state, &length, sizeof length, e) || buf_add(state, statement, n, e) ? -1 : 0;
}

int pg_state_next(const struct buf *state, size_t *at, const char **ret, size_t *ret_n)
{
    uint32_t n;
    size_t left = state->len - *at;
    if (left == 0)
        return 0;
    if (left < sizeof n)
        return -1;
    memcpy(&n, state->data + *at, sizeof n);
    if (n > left - sizeof n)
        return -1;
    *ret = state->data + *at + sizeof n;
    *ret_n = n;
    *at += sizeof n + n;
    return 1;
}

/* ---- settings that the server does not list ---- */

static void remember(struct buf *settings, const char *name, size_t n)
{
    struct err e;
    for (size_t at = 0; at < settings->len; at += strlen(settings->data + at) + 1)
        if (strlen(settings->data + at) == n && strncasecmp(settings->data + at, name, n) == 0)
            return;
    size_t before = settings->len;
    if (before + n < SETTINGS_MAX &&
        (buf_add(settings, name, n, &e) || buf_add(settings, "", 1, &e)))
        settings->len = before;
}

/* The length of a name with a dot; 0: the text begins with another name, or with no name. */
static size_t dotted_name(const char *text)
{
    size_t n = 0;
    bool dot = false;
    for (; isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.'; n++)
        dot = dot || text[n] == '.';
    return dot ? n : 0;
}

static const char *skip_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    while (isspace((unsigned char)*text))
        text++;
    return strncasecmp(text, word, n) == 0 && isspace((unsigned char)text[n]) ? text + n : NULL;
}

void pg_state_see(struct buf *settings, const char *statement)
{
    static const char call[] = "set_config('";
    for (const char *c = statement; (c = strcasestr(c, call)); c += sizeof call - 1) {
        size_t n = dotted_name(c + sizeof call - 1);
        if (n > 0)
            remember(settings, c + sizeof call - 1, n);
    }
    const char *at = skip_word(statement, "SET");
    if (!at)
        return;
    const char *after = skip_word(at, "SESSION");
    at = after ? after : at;
    while (isspace((unsigned char)*at))
        at++;
    size_t n = dotted_name(at);
    if (n > 0)
        remember(settings, at, n);
}
