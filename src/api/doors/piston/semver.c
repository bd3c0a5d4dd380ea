#include "api/doors/piston/semver.h"

#include <string.h>

enum { PARTS = 3, NUMBER_MAX = 999999999 };

/* A version of which the last parts may be missing, or be an "x". */
struct partial {
    struct semver v; /* missing parts are 0 */
    int n;           /* parts that are given */
};

/* low <= version < high */
struct interval {
    struct semver low, high;
    bool is_bounded; /* there is a high */
    bool is_empty;
};

static int compare(const struct semver *a, const struct semver *b)
{
    for (int i = 0; i < PARTS; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_number(const char **at, uint32_t *ret)
{
    uint64_t n = 0;
    if (!is_digit(**at))
        return false;
    for (; is_digit(**at); ++*at) {
        n = n * 10 + (uint64_t)(**at - '0');
        if (n > NUMBER_MAX)
            return false;
    }
    *ret = (uint32_t)n;
    return true;
}

bool semver_read(const char *text, struct semver *ret)
{
    *ret = (struct semver){ 0 };
    while (*text && !is_digit(*text))
        text++;
    for (int i = 0; i < PARTS; i++) {
        if (!read_number(&text, &ret->part[i]))
            return i > 0;
        if (*text != '.')
            return true;
        text++;
    }
    return true;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* "1", "1.2.x", "v1.2.3+build". Releases before a version ("1.2.3-rc1") are not known here. */
static bool read_partial(const char **at, struct partial *ret)
{
    *ret = (struct partial){ 0 };
    *at += **at == 'v' || **at == '=';
    for (int i = 0; i < PARTS; i++) {
        if (**at == 'x' || **at == 'X' || **at == '*') {
            ++*at;
            while (**at == '.' || **at == 'x' || **at == 'X' || **at == '*')
                ++*at;
            return true;
        }
        if (!read_number(at, &ret->v.part[i]))
            return false;
        ret->n = i + 1;
        if (**at != '.')
            break;
        ++*at;
    }
    if (**at == '+')
        *at += strcspn(*at, " \t|");
    return true;
}

/* The first version after every version that has these parts up to `last`. */
static struct semver next(const struct semver *v, int last)
{
    struct semver r = { 0 };
    for (int i = 0; i < last; i++)
        r.part[i] = v->part[i];
    r.part[last] = v->part[last] + 1;
    return r;
}

/* The part that may not change within "^1.2.3". */
static int caret_part(const struct partial *p)
{
    int i = 0;
    while (i < p->n - 1 && p->v.part[i] == 0)
        i++;
    return i;
}

static void set_high(struct interval *r, struct semver high)
{
    r->high = high;
    r->is_bounded = true;
}

static struct interval interval_of(const char *op, const struct partial *p)
{
    struct interval r = { .low = p->v };
    int last = p->n - 1;
    if (strcmp(op, "<") == 0) {
        r.low = (struct semver){ 0 };
        set_high(&r, p->v);
        r.is_empty = p->n == 0;
    } else if (strcmp(op, ">") == 0) {
        r.is_empty = p->n == 0;
        if (p->n > 0)
            r.low = next(&p->v, last);
    } else if (p->n == 0 || strcmp(op, ">=") == 0) {
        /* everything from here on */
    } else if (strcmp(op, "<=") == 0) {
        r.low = (struct semver){ 0 };
        set_high(&r, next(&p->v, last));
    } else if (strcmp(op, "^") == 0) {
        set_high(&r, next(&p->v, caret_part(p)));
    } else if (op[0] == '~') {
        set_high(&r, next(&p->v, last < 1 ? last : 1));
    } else {
        set_high(&r, next(&p->v, last));
    }
    return r;
}

static bool is_inside(const struct interval *r, const struct semver *v)
{
    return !r->is_empty && compare(v, &r->low) >= 0 && (!r->is_bounded || compare(v, &r->high) < 0);
}

static const char *read_operator(const char **at)
{
    static const char *const operators[] = { ">=", "<=", "~>", ">", "<", "=", "^", "~" };
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t n = strlen(operators[i]);
        if (strncmp(*at, operators[i], n) == 0) {
            *at = skip_blanks(*at + n);
            return operators[i];
        }
    }
    return "";
}

/* " - 2.3" after a version: the other end of the interval. */
static bool read_hyphen(const char **at, struct interval *r)
{
    struct partial high;
    const char *from = skip_blanks(*at);
    if (from == *at || from[0] != '-' || (from[1] != ' ' && from[1] != '\t'))
        return true;
    *at = skip_blanks(from + 1);
    if (!read_partial(at, &high))
        return false;
    r->is_bounded = false;
    if (high.n > 0)
        set_high(r, next(&high.v, high.n - 1));
    return true;
}

/* One alternative, up to "||" or the end: every comparator of it holds. */
static bool read_alternative(const char **at, const struct semver *v, bool *ret_inside)
{
    *ret_inside = true;
    for (*at = skip_blanks(*at); **at && **at != '|'; *at = skip_blanks(*at)) {
        struct partial p;
        const char *op = read_operator(at);
        if (!read_partial(at, &p))
            return false;
        struct interval r = interval_of(op, &p);
        if (op[0] == '\0' && !read_hyphen(at, &r))
            return false;
        if (**at && !strchr(" \t|", **at))
            return false;
        *ret_inside = *ret_inside && is_inside(&r, v);
    }
    return true;
}

bool semver_within(const struct semver *v, const char *range)
{
    bool found = false, inside;
    for (;;) {
        if (!read_alternative(&range, v, &inside))
            return false;
        found = found || inside;
        if (*range == '\0')
            return found;
        if (strncmp(range, "||", 2) != 0)
            return false;
        range += 2;
    }
}
