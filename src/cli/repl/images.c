#include "cli/repl/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"

const char images_question[] = "\033[>0q\033[c";

static const struct {
    const char *name;    /* as the terminal tells it */
    const char *term;    /* $TERM, or NULL */
    const char *program; /* $TERM_PROGRAM or $LC_TERMINAL, or NULL */
    enum image_protocol protocol;
} terminals[] = {
    { "kitty", "xterm-kitty", NULL, IMAGES_KITTY },
    { "ghostty", "xterm-ghostty", "ghostty", IMAGES_KITTY },
    { "iTerm2", NULL, "iTerm.app", IMAGES_ITERM },
    { "iTerm2", NULL, "iTerm2", IMAGES_ITERM },
    { "WezTerm", "wezterm", "WezTerm", IMAGES_ITERM },
};

/* Terminals that may have Sixel graphics; their attributes tell. */
static const char *const sixel_terms[] = { "foot", "mlterm", "contour", "yaft" };
static const char *const sixel_programs[] = { "mintty", "contour", "vscode" };
static const char *const sixel_variables[] = { "XTERM_VERSION", "KONSOLE_VERSION", "WT_SESSION" };

static bool is_like(const char *value, const char *wanted)
{
    return value && wanted && strcmp(value, wanted) == 0;
}

static bool is_sixel_hinted(const char *term)
{
    for (size_t i = 0; i < ARRAY_LEN(sixel_terms); i++)
        if (strncmp(term, sixel_terms[i], strlen(sixel_terms[i])) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(sixel_programs); i++)
        if (is_like(getenv("TERM_PROGRAM"), sixel_programs[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(sixel_variables); i++)
        if (getenv(sixel_variables[i]))
            return true;
    return false;
}

enum image_protocol images_hinted(void)
{
    const char *term = getenv("TERM");
    /* Images do not pass through a multiplexer. */
    if (!term || strcmp(term, "dumb") == 0 || getenv("TMUX") || getenv("STY") ||
        strncmp(term, "screen", 6) == 0 || strncmp(term, "tmux", 4) == 0)
        return IMAGES_NONE;
    for (size_t i = 0; i < ARRAY_LEN(terminals); i++)
        if (is_like(term, terminals[i].term) ||
            is_like(getenv("TERM_PROGRAM"), terminals[i].program) ||
            is_like(getenv("LC_TERMINAL"), terminals[i].program))
            return terminals[i].protocol;
    return is_sixel_hinted(term) ? IMAGES_SIXEL : IMAGES_NONE;
}

/* Removes the sequence from `begin` to `end` from the bytes. False: it is not there. */
static bool take(struct buf *bytes, const char *begin, const char *end, struct buf *ret)
{
    struct err e;
    char *from = memmem(buf_str(bytes), bytes->len, begin, strlen(begin));
    if (!from)
        return false;
    size_t left = bytes->len - (size_t)(from - bytes->data);
    char *last = memmem(from, left, end, strlen(end));
    if (!last)
        return false;
    size_t n = (size_t)(last - from) + strlen(end);
    if (buf_add(ret, from, n, &e))
        return false;
    memmove(from, from + n, left - n);
    bytes->len -= n;
    return true;
}

/* "ESC [ ? 62 ; 4 ; 22 c": the class of the terminal, from 61 on, and its attributes. 4 is Sixel. */
static bool has_sixel(const char *attributes)
{
    char *at;
    unsigned long class = strtoul(attributes + strlen("\033[?"), &at, 10);
    bool found = false;
    while (*at == ';')
        found |= strtoul(at + 1, &at, 10) == 4;
    return found && class > 60 && class < 70 && *at == 'c';
}

bool images_answered(struct buf *bytes, enum image_protocol *ret)
{
    static const char begin[] = "\033P>|";
    scoped(buf) name = { 0 }, attributes = { 0 };
    *ret = IMAGES_NONE;
    /* The attributes come last. */
    if (!take(bytes, "\033[?", "c", &attributes))
        return false;
    if (has_sixel(buf_str(&attributes)))
        *ret = IMAGES_SIXEL;
    if (!take(bytes, begin, "\033\\", &name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(terminals); i++)
        if (strncmp(buf_str(&name) + strlen(begin), terminals[i].name, strlen(terminals[i].name)) ==
            0)
            *ret = terminals[i].protocol;
    return true;
}
