/* Patterns. Each is compiled at its first use and kept as long as the diagnoser lives. Runs in:
 * keeper. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "diagnose/core/diagnoser.h"
#include "diagnose/core/grammar.h"

enum {
    BACKTRACKS_MAX = 20000, /* of one match */
    HEAP_MAX_KIB = 1024,
    ROOM_FIRST = 256, /* patterns; enough for one language */
};

int diagnoser_new(struct diagnoser **ret, struct err *e)
{
    struct diagnoser *g = calloc(1, sizeof *g);
    if (g)
        g->context = pcre2_match_context_create(NULL);
    if (g && g->context)
        g->data = pcre2_match_data_create(MATCH_GROUPS + 1, NULL);
    if (!g || !g->context || !g->data) {
        diagnoser_free(g);
        return err_no_memory(e, "a diagnoser");
    }
    (void)pcre2_set_match_limit(g->context, BACKTRACKS_MAX);
    (void)pcre2_set_depth_limit(g->context, BACKTRACKS_MAX);
    (void)pcre2_set_heap_limit(g->context, HEAP_MAX_KIB);
    *ret = g;
    return 0;
}

void diagnoser_free(struct diagnoser *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->room; i++)
        pcre2_code_free(g->patterns[i].code);
    free(g->patterns);
    pcre2_match_data_free(g->data);
    pcre2_match_context_free(g->context);
    free(g);
}

const char *match_broken(const struct diagnoser *g)
{
    return g->broken;
}

/* Without PCRE2's JIT: the process that reads a guest's text may not make executable memory. */
static pcre2_code *compile(struct diagnoser *g, const char *pattern)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                         PCRE2_DOLLAR_ENDONLY, &code, &at, NULL);
    if (!compiled)
        g->broken = pattern;
    return compiled;
}

/* The slot of the pattern, or a free one. The address is the key: patterns are literals. */
static struct pattern *place_of(struct pattern *patterns, size_t room, const char *pattern)
{
    size_t at = ((uintptr_t)pattern >> 2) * 2654435761U;
    while (patterns[at & (room - 1)].text && patterns[at & (room - 1)].text != pattern)
        at++;
    return &patterns[at & (room - 1)];
}

/* One slot in four stays free, so that a search ends soon. */
static bool make_room(struct diagnoser *g)
{
    if (g->n_patterns < g->room / 4 * 3)
        return true;
    size_t room = g->room ? 2 * g->room : ROOM_FIRST;
    struct pattern *larger = calloc(room, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < g->room; i++)
        if (g->patterns[i].text)
            *place_of(larger, room, g->patterns[i].text) = g->patterns[i];
    free(g->patterns);
    g->patterns = larger;
    g->room = room;
    return true;
}

static pcre2_code *compiled(struct diagnoser *g, const char *pattern)
{
    if (!make_room(g)) {
        g->broken = pattern;
        return NULL;
    }
    struct pattern *p = place_of(g->patterns, g->room, pattern);
    if (!p->text) {
        *p = (struct pattern){ .text = pattern, .code = compile(g, pattern) };
        g->n_patterns++;
    }
    return p->code;
}

bool match(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret)
{
    pcre2_code *code = compiled(g, pattern);
    if (!code || !text.at)
        return false;
    size_t len = text.len < LINE_SEEN ? text.len : LINE_SEEN;
    int n = pcre2_match(code, (PCRE2_SPTR)text.at, len, 0, 0, g->data, g->context);
    if (n < 0)
        return false; /* no match, or too much backtracking */
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(g->data);
    *ret = (struct match){ .all = piece_part(text, at[0], at[1] - at[0]) };
    for (size_t i = 1; i < (size_t)n && i <= MATCH_GROUPS; i++)
        if (at[2 * i] != PCRE2_UNSET)
            ret->group[i - 1] = piece_part(text, at[2 * i], at[2 * i + 1] - at[2 * i]);
    return true;
}

bool match_text(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret)
{
    struct piece line;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&text, &line); n++)
        if (match(g, pattern, line, ret))
            return true;
    return false;
}

bool match_next(struct diagnoser *g, const char *pattern, struct piece *rest, struct match *ret)
{
    struct piece line;
    while (next_line(rest, &line))
        if (match(g, pattern, line, ret))
            return true;
    return false;
}
