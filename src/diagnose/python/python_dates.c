/* Rules for dates that do not fit their format: the form that the text really has. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

enum { FORM_MAX = 80 };

static const char *const months[] = { "January",   "February", "March",    "April",
                                      "May",       "June",     "July",     "August",
                                      "September", "October",  "November", "December" };
static const char *const days[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                    "Friday", "Saturday", "Sunday" };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The text as it is read: its parts become directives. */
struct form {
    struct piece text;
    size_t at;
    char out[FORM_MAX]; /* 'd' and 'm' wait for their order as the bytes 1 and 2 */
    size_t n;
    uint32_t small[3]; /* the values of numbers that are a day, a month, or a short year */
    size_t n_small;
    bool year, month, clock, half; /* seen: a year, the name of a month, a time, AM or PM */
    size_t n_clock;
};

static bool put(struct form *f, const char *directive)
{
    size_t len = strlen(directive);
    if (f->n + len + 1 > sizeof f->out)
        return false;
    memcpy(f->out + f->n, directive, len + 1);
    f->n += len;
    return true;
}

static struct piece run_of(const struct form *f, bool (*is)(char))
{
    size_t end = f->at;
    while (end < f->text.len && is(piece_byte(f->text, end)))
        end++;
    return piece_part(f->text, f->at, end - f->at);
}

static bool put_number(struct form *f)
{
    static const char *const clock[] = { "%H", "%M", "%S" };
    struct piece run = run_of(f, is_digit);
    char before = f->at > 0 ? piece_byte(f->text, f->at - 1) : '\0';
    char after = piece_byte(f->text, f->at + run.len);
    f->at += run.len;
    if (before == '.' && f->n_clock == 3)
        return run.len <= 6 && put(f, "%f");
    if (run.len <= 2 && (after == ':' || before == ':') && f->n_clock < 3) {
        f->clock = true;
        return put(f, clock[f->n_clock++]);
    }
    if (run.len == 4 && !f->year) {
        f->year = true;
        return put(f, "%Y");
    }
    if (run.len == 8 && !f->year) {
        f->year = f->month = true;
        return put(f, "%Y%m%d");
    }
    if (run.len > 2 || f->n_small == ARRAY_LEN(f->small))
        return false;
    f->small[f->n_small++] = piece_number(run);
    return put(f, "\1");
}

/* Whether it is one of the names, or its first three letters. 0: neither; 1: short; 2: the whole. */
static int name_among(struct piece word, const char *const *names, size_t n)
{
    char text[16];
    COPY(word, text);
    for (size_t i = 0; i < n && word.len < sizeof text; i++) {
        if (strcasecmp(text, names[i]) == 0)
            return 2;
        if (word.len == 3 && strncasecmp(text, names[i], 3) == 0)
            return 1;
    }
    return 0;
}

static bool put_word(struct form *f)
{
    struct piece run = run_of(f, is_letter);
    int month = name_among(run, months, ARRAY_LEN(months));
    int day = name_among(run, days, ARRAY_LEN(days));
    f->at += run.len;
    if (month && !f->month) {
        f->month = true;
        return put(f, month == 1 || piece_is(run, "May") ? "%b" : "%B");
    }
    if (day)
        return put(f, day == 1 ? "%a" : "%A");
    if (piece_is(run, "AM") || piece_is(run, "PM") || piece_is(run, "am") || piece_is(run, "pm")) {
        f->half = true;
        return put(f, "%p");
    }
    if (piece_is(run, "T"))
        return put(f, "T");
    return piece_is(run, "Z") && f->clock && put(f, "%z");
}

/* "+02:00" behind a time. */
static bool put_zone(struct form *f)
{
    struct piece rest = piece_skip(f->text, f->at + 1);
    size_t digits = 0;
    for (size_t i = 0; i < rest.len; i++)
        digits += is_digit(piece_byte(rest, i));
    if (digits != 4 || rest.len - digits > 1)
        return false;
    f->at = f->text.len;
    return put(f, "%z");
}

/* The meaning of each number, as letters of directives: "dm", "md", "d", "dmy"... */
static bool orders_fit(const struct form *f, const char *order)
{
    if (strlen(order) != f->n_small)
        return false;
    for (size_t i = 0; i < f->n_small; i++)
        if ((order[i] == 'd' && (f->small[i] < 1 || f->small[i] > 31)) ||
            (order[i] == 'm' && (f->small[i] < 1 || f->small[i] > 12)))
            return false;
    return true;
}

/* The order that the program's own format has, then the usual ones. */
static const char *order_of(const struct form *f, struct piece given)
{
    static const char *const usual[][5] = { { "d", "y", NULL },
                                            { "dm", "md", NULL },
                                            { "dmy", "mdy", "ymd", NULL } };
    static const char *const of_month[][3] = { { "d", NULL }, { "dy", NULL } };
    bool day_first = piece_find(given, "%d") < piece_find(given, "%m");
    if (f->n_small == 0)
        return "";
    if (f->month)
        return f->n_small <= 2 && orders_fit(f, of_month[f->n_small - 1][0])
                   ? of_month[f->n_small - 1][0]
                   : NULL;
    if (f->n_small == 2 && f->year && piece_byte(f->text, 4) && is_digit(piece_byte(f->text, 3)))
        return orders_fit(f, "md") ? "md" : orders_fit(f, "dm") ? "dm" : NULL;
    if (f->n_small == 2 && f->year)
        return orders_fit(f, day_first ? "dm" : "md")   ? day_first ? "dm" : "md"
               : orders_fit(f, day_first ? "md" : "dm") ? day_first ? "md" : "dm"
                                                        : NULL;
    if (f->n_small != 3 || f->year)
        return NULL;
    size_t first = day_first ? 0 : 1;
    return orders_fit(f, usual[2][first])       ? usual[2][first]
           : orders_fit(f, usual[2][1 - first]) ? usual[2][1 - first]
           : orders_fit(f, "ymd")               ? "ymd"
                                                : NULL;
}

/* The form of the text, "%d/%m/%Y". False when it is not a date that can be read. */
static bool form_of(struct piece text, struct piece given, char *out, size_t size)
{
    struct form f = { .text = text };
    while (f.at < text.len) {
        char c = piece_byte(text, f.at);
        char plain[2] = { c, '\0' };
        bool ok = is_digit(c)                                ? put_number(&f)
                  : is_letter(c)                             ? put_word(&f)
                  : (c == '+' || c == '-') && f.n_clock >= 2 ? put_zone(&f)
                  : strchr(" -/.,:", c) && c != '\0'         ? (f.at++, put(&f, plain))
                                                             : false;
        if (!ok)
            return false;
    }
    const char *order = order_of(&f, given);
    if (!order || (f.half && f.n_clock == 0) || (f.n_small == 0 && !f.clock && !f.month))
        return false;
    size_t n = 0, next = 0;
    for (size_t i = 0; i < f.n && n + 3 < size; i++) {
        if (f.out[i] == '\1') {
            out[n++] = '%';
            out[n++] = order[next++];
        } else {
            out[n++] = f.half && i > 0 && f.out[i] == 'H' && f.out[i - 1] == '%' ? 'I' : f.out[i];
        }
    }
    out[n] = '\0';
    return true;
}

static void say_form(const struct advice *a, struct piece text, struct piece given)
{
    char form[FORM_MAX], swapped[FORM_MAX];
    if (!form_of(text, given, form, sizeof form) || piece_is(given, form))
        return;
    COPY(given, swapped);
    for (char *c = swapped; *c; c++)
        if (c > swapped && c[-1] == '%')
            *c = *c == 'd' ? 'm' : *c == 'm' ? 'd' : *c;
    if (strcmp(swapped, form) == 0)
        suggest(a->d, 0, 0.95,
                "%s in '%.*s', and the format has them in the other order: it should be '%s'.",
                piece_find(piece_of(form), "%d") < piece_find(piece_of(form), "%m")
                    ? "The day comes before the month"
                    : "The month comes before the day",
                P(text), form);
    else
        suggest(a->d, 0, 0.94, "'%.*s' has the format '%s', and the program gives '%.*s'%s.",
                P(text), form, P(given),
                strstr(form, "%y") && piece_has(given, "%Y") ? ": %y is a year of two digits"
                : strstr(form, "%B") && piece_has(given, "%b")
                    ? ": %B is the whole name of a month, %b the short one"
                : strstr(form, "%b") && piece_has(given, "%B")
                    ? ": %b is the short name of a month, %B the whole one"
                : strstr(form, "%I") ? ": %I and %p read an hour with AM or PM"
                : strstr(form, "%z") ? ": %z reads the time zone"
                                     : "");
    (void)suggest_swap(a->in, a->d, given, form);
}

void py_date_form(const struct advice *a)
{
    struct piece text = a->m.group[0], given = a->m.group[1];
    struct piece bare = piece_trim(text);
    char form[FORM_MAX];
    if (piece_has(text, "%") && !piece_has(given, "%"))
        suggest(a->d, 0, 0.95,
                "The arguments are swapped: the text comes first, and then its format, "
                "strptime(text, \"%%Y-%%m-%%d\").");
    else if (bare.len == 0)
        suggest(a->d, 0, 0.94,
                "The text is empty: test it before it is read (`if text.strip():`).");
    else if (bare.len < text.len && form_of(bare, given, form, sizeof form) &&
             piece_is(given, form))
        suggest(a->d, 0, 0.94, "The text '%.*s' has blanks around it: remove them, text.strip().",
                P(text));
    else
        say_form(a, text, given);
}

/* The text and the format of strptime() in the line, by literals or by values. */
static bool parts_of(const struct advice *a, struct piece rest, struct piece *ret_text,
                     struct piece *ret_given)
{
    struct match m;
    struct piece names = a->line, name, shown;
    char end[64];
    if (!match(a->g, "[\"'](%[^\"']+)[\"']", a->line, &m) || rest.len >= sizeof end)
        return false;
    *ret_given = m.group[0];
    COPY(rest, end);
    if (match(a->g, "\\(\\s*[\"']([^\"'%]+)[\"']", a->line, &m) && ends_with(m.group[0], end)) {
        *ret_text = m.group[0];
        return true;
    }
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&names, &name); n++)
        if (shown_text(value_shown(value_of(a->d, name)), &shown) && ends_with(shown, end)) {
            *ret_text = shown;
            return true;
        }
    return false;
}

void py_date_rest(const struct advice *a)
{
    struct piece rest = a->m.group[0], text, given;
    if (piece_trim(rest).len == 0) {
        suggest(a->d, 0, 0.94,
                "Blanks or the end of a line follow the date: remove them first, text.strip().");
        return;
    }
    if (parts_of(a, rest, &text, &given))
        say_form(a, text, given);
}
