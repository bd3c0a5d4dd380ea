/* Draws a profile on stderr. */
#include "cli/run/profile_view.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/run/terminal.h"

enum {
    ROWS_SHOWN = 10,
    TREE_SHOWN = 24,
    TREE_DEPTH = 14,
    WIDTH_MIN = 60,
    WIDTH_MAX = 160,
    BAR_PART = 5, /* of the width */
    STEPS = 8
};
static const double TREE_LEAST = 0.02; /* of the whole */

struct view {
    int width;
    bool colour, utf8;
};

static struct view view_of_stderr(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    struct view v = { .width = 100 };
    int columns = terminal_columns(2);
    v.colour = isatty(2) && !getenv("NO_COLOR");
    if (columns > 0)
        v.width = columns < WIDTH_MIN ? WIDTH_MIN : columns > WIDTH_MAX ? WIDTH_MAX : columns;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0]) {
            v.utf8 = strcasestr(value, "utf-8") || strcasestr(value, "utf8");
            break;
        }
    }
    return v;
}

/* ---- pieces ---- */

static const char *paint(const struct view *v, const char *code)
{
    return v->colour ? code : "";
}

static const char *heat(const struct view *v, double percent)
{
    return paint(v, percent >= 40 ? "\033[31m" : percent >= 15 ? "\033[33m" : "\033[32m");
}

static int characters(const char *s)
{
    return (int)text_characters(s, strlen(s));
}

/* Prints at most so many characters. A mark replaces the last one if there are more; blanks fill
 * the rest if `pad`. The text may come from a service, so control characters are replaced here. */
static void put_text(const struct view *v, const char *s, int columns, bool pad)
{
    int used = 0;
    bool cut = columns > 0 && characters(s) > columns;
    columns -= cut;
    for (size_t left = strlen(s); left > 0 && used < columns; used++) {
        size_t n = text_printable(s, left), step = n > 0 ? n : 1;
        (void)fwrite(n > 0 ? s : "?", 1, step, stderr);
        s += step;
        left -= step;
    }
    if (cut)
        (void)fputs(v->utf8 ? "…" : "~", stderr);
    for (; pad && used < columns; used++)
        (void)fputc(' ', stderr);
}

static void put_bar(const struct view *v, double share, double percent, int columns)
{
    static const char *const parts[STEPS] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    int eighths = (int)lround(share * columns * STEPS), whole = eighths / STEPS, used = whole;
    (void)fputs(heat(v, percent), stderr);
    for (int i = 0; i < whole; i++)
        (void)fputs(v->utf8 ? "█" : "#", stderr);
    if (v->utf8 && eighths % STEPS && whole < columns) {
        (void)fputs(parts[eighths % STEPS], stderr);
        used++;
    }
    (void)fputs(paint(v, "\033[0m"), stderr);
    put_text(v, "", columns - used, true);
}

static const char *duration(double ms, char *out, size_t size)
{
    (void)snprintf(out, size,
                   ms >= 10000  ? "%.1f s"
                   : ms >= 1000 ? "%.2f s"
                   : ms >= 10   ? "%.0f ms"
                                : "%.1f ms",
                   ms >= 1000 ? ms / 1000 : ms);
    return out;
}

static const char *bytes(double n, char *out, size_t size)
{
    (void)snprintf(out, size, n >= 1 << 20 ? "%.1f MiB" : "%.0f KiB",
                   n >= 1 << 20 ? n / (1 << 20) : n / 1024);
    return out;
}

static void heading(const struct view *v, const char *text)
{
    (void)fprintf(stderr, "%s%s%s\n", paint(v, "\033[1m"), text, paint(v, "\033[0m"));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* ---- hot functions and lines ---- */

static const char *place_of(const json_t *row, char *out, size_t size)
{
    (void)snprintf(out, size, "%s:%lld", string(row, "file"),
                   (long long)json_integer_value(json_object_get(row, "line")));
    return out;
}

/* A long place loses its beginning: its end has the line number. */
static void put_place(const struct view *v, const json_t *row, int columns)
{
    char place[400];
    const char *s = place_of(row, place, sizeof place);
    int more = characters(s) - columns;
    (void)fputs(paint(v, "\033[2m"), stderr);
    if (more > 0) {
        for (; more >= 0 && *s; more--)
            do
                s++;
            while (((unsigned char)*s & 0xc0) == 0x80);
        (void)fputs(v->utf8 ? "…" : "~", stderr);
        columns--;
    }
    put_text(v, s, columns, true);
    (void)fputs(paint(v, "\033[0m"), stderr);
}

static bool is_shown(const json_t *row, size_t i)
{
    return i < ROWS_SHOWN && (i == 0 || number(row, "percent") >= 0.5);
}

/* Columns for the places of the printed rows. */
static int places_width(const json_t *list, int most)
{
    char place[400];
    int width = 0;
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)list, i, row) {
        int n = is_shown(row, i) ? characters(place_of(row, place, sizeof place)) : 0;
        width = n > width ? n : width;
    }
    return width < most ? width : most;
}

/* "functions" have times of their own and of their callees; "lines" have the share only. */
static void put_hot(const struct view *v, const json_t *profile, const char *key)
{
    bool functions = strcmp(key, "functions") == 0;
    json_t *list = json_object_get(profile, key), *row;
    int bar = v->width / BAR_PART, left = v->width - bar - (functions ? 35 : 14);
    int place = places_width(list, left / 2);
    char self[24], total[24], title[16];
    size_t i;
    if (json_array_size(list) == 0)
        return;
    (void)snprintf(title, sizeof title, "  %s", key);
    heading(v, title);
    json_array_foreach(list, i, row) {
        double percent = number(row, "percent");
        if (!is_shown(row, i))
            break;
        (void)fputs("  ", stderr);
        put_bar(v, percent / 100, percent, bar);
        (void)fprintf(stderr, " %5.1f %%", percent);
        if (functions)
            (void)fprintf(stderr, " %8s of %8s",
                          duration(number(row, "self_ms"), self, sizeof self),
                          duration(number(row, "total_ms"), total, sizeof total));
        (void)fputs("  ", stderr);
        put_place(v, row, place);
        (void)fputs("  ", stderr);
        put_text(v, string(row, functions ? "function" : "text"), left - place, false);
        (void)fputc('\n', stderr);
    }
}

/* ---- the tree of calls ---- */

/* The nodes of one tree are in one array; the first is the root. */
struct call_node {
    const char *name; /* points into the text of a stack */
    size_t len;
    double ms;
    size_t child, next; /* 0: none */
    bool again, shown;  /* it is recursive; it was printed */
};
struct call_tree {
    struct call_node *nodes;
    size_t n, max;
};

/* Finds or adds the child of this name; 0 if there is no room. */
static size_t child_of(struct call_tree *t, size_t parent, const char *name, size_t len)
{
    for (size_t i = t->nodes[parent].child; i; i = t->nodes[i].next)
        if (t->nodes[i].len == len && memcmp(t->nodes[i].name, name, len) == 0)
            return i;
    if (t->n == t->max)
        return 0;
    t->nodes[t->n] = (struct call_node){ .name = name, .len = len, .next = t->nodes[parent].child };
    t->nodes[parent].child = t->n;
    return t->n++;
}

static void add_stack(struct call_tree *t, const char *stack, double ms)
{
    size_t at = 0;
    t->nodes[0].ms += ms;
    for (int depth = 0; *stack && depth < TREE_DEPTH; depth++) {
        size_t len = strcspn(stack, ";");
        size_t name =
            len; /* calls from different lines count as one: "f main.py:3" becomes "f main.py" */
        while (name > 0 && stack[name - 1] != ':' && stack[name - 1] != ' ')
            name--;
        name = name > 0 && stack[name - 1] == ':' ? name - 1 : len;
        const struct call_node *caller = &t->nodes[at];
        if (at && caller->len == name && memcmp(caller->name, stack, name) == 0) {
            t->nodes[at].again = true; /* recursion is one row at any depth */
            depth--;
        } else {
            at = child_of(t, at, stack, name);
            if (at == 0)
                return;
            t->nodes[at].ms += ms;
        }
        stack += len + (stack[len] == ';');
    }
}

static void put_call(const struct view *v, const struct call_node *x, double whole, int depth)
{
    int bar = v->width / BAR_PART;
    char name[400];
    (void)fputs("  ", stderr);
    put_bar(v, x->ms / whole, x->ms / whole * 100, bar);
    (void)fprintf(stderr, " %5.1f %%  %*s", x->ms / whole * 100, 2 * (depth - 1), "");
    (void)snprintf(name, sizeof name, "%.*s%s", (int)(x->len < 370 ? x->len : 370), x->name,
                   x->again ? " (calls itself)" : "");
    put_text(v, name, v->width - bar - 10 - 2 * depth, false);
    (void)fputc('\n', stderr);
}

/* Prints the callees, the hottest first. */
static void put_calls(const struct view *v, struct call_tree *t, size_t at, int depth, int *left)
{
    double whole = t->nodes[0].ms;
    while (*left > 0) {
        size_t next = 0;
        for (size_t i = t->nodes[at].child; i; i = t->nodes[i].next)
            if (!t->nodes[i].shown && (!next || t->nodes[i].ms > t->nodes[next].ms))
                next = i;
        if (!next || t->nodes[next].ms < whole * TREE_LEAST)
            return;
        t->nodes[next].shown = true;
        (*left)--;
        put_call(v, &t->nodes[next], whole, depth + 1);
        put_calls(v, t, next, depth + 1, left);
    }
}

static void put_tree(const struct view *v, const json_t *stacks)
{
    enum { NODES_MAX = 4000 };
    struct call_tree t = { .nodes = calloc(NODES_MAX, sizeof *t.nodes), .n = 1, .max = NODES_MAX };
    int left = TREE_SHOWN;
    size_t i;
    json_t *row;
    if (!t.nodes)
        return;
    json_array_foreach((json_t *)stacks, i, row)
        add_stack(&t, string(row, "stack"), number(row, "ms"));
    if (t.nodes[0].ms > 0 && t.n > 1) {
        heading(v, "  calls");
        put_calls(v, &t, 0, 0, &left);
    }
    free(t.nodes);
}

/* ---- over time ---- */

/* A column shows the highest of its samples. */
static void put_curve(const struct view *v, const json_t *timeline, const char *key, double top,
                      int columns)
{
    static const char *const heights[STEPS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    size_t n = json_array_size(timeline), at = strcmp(key, "cpu_percent") == 0 ? 1 : 0;
    double end = number(json_array_get(timeline, n - 1), "ms");
    for (int c = 0; c < columns; c++) {
        double until = end * (c + 1) / columns, most = -1;
        for (; at < n && number(json_array_get(timeline, at), "ms") <= until; at++)
            most = fmax(most, number(json_array_get(timeline, at), key));
        if (most < 0) /* no sample: the next one */
            most = number(json_array_get(timeline, at < n ? at : n - 1), key);
        int step = top > 0 ? (int)lround(most / top * (STEPS - 1)) : 0;
        step = step < 0 ? 0 : step >= STEPS ? STEPS - 1 : step;
        if (v->utf8)
            (void)fputs(heights[step], stderr);
        else
            (void)fputc("_.-~=+*#"[step], stderr);
    }
}

static double peak(const json_t *timeline, const char *key)
{
    double most = 0;
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)timeline, i, row)
        most = fmax(most, number(row, key));
    return most;
}

static void put_timeline(const struct view *v, const json_t *timeline)
{
    static const struct {
        const char *key, *name, *colour;
    } rows[] = {
        { "cpu_percent", "cpu", "\033[36m" },
        { "memory_bytes", "memory", "\033[35m" },
        { "pids", "processes", "\033[34m" },
    };
    size_t n = json_array_size(timeline);
    char text[64], title[80];
    if (n < 2)
        return;
    (void)snprintf(title, sizeof title, "  over %s",
                   duration(number(json_array_get(timeline, n - 1), "ms"), text, sizeof text));
    heading(v, title);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double top = peak(timeline, rows[i].key);
        if (i == 2 ? top < 2 : top <= 0)
            continue;
        if (i == 1)
            (void)bytes(top, text, sizeof text);
        else
            (void)snprintf(text, sizeof text, i == 0 ? "%.0f %%" : "%.0f", top);
        (void)fprintf(stderr, "  %-10s%s", rows[i].name, paint(v, rows[i].colour));
        put_curve(v, timeline, rows[i].key, top, v->width - 32);
        (void)fprintf(stderr, "%s  up to %s\n", paint(v, "\033[0m"), text);
    }
}

void profile_view(const json_t *profile)
{
    struct view v = view_of_stderr();
    char text[32];
    double samples = number(profile, "samples");
    const char *note = json_string_value(json_object_get(profile, "note"));
    (void)fflush(stdout);
    (void)fprintf(stderr, "%sprofile%s", paint(&v, "\033[1m"), paint(&v, "\033[0m"));
    if (samples > 0)
        (void)fprintf(stderr, "  %s in %.0f samples",
                      duration(number(profile, "sampled_ms"), text, sizeof text), samples);
    else if (!note)
        (void)fputs("  (functions and lines are for Python, JavaScript and TypeScript)", stderr);
    (void)fputc('\n', stderr);
    put_hot(&v, profile, "functions");
    put_hot(&v, profile, "lines");
    put_tree(&v, json_object_get(profile, "stacks"));
    put_timeline(&v, json_object_get(profile, "timeline"));
    if (note) {
        (void)fputs("  ", stderr);
        put_text(&v, note, (int)strlen(note), false);
        (void)fputc('\n', stderr);
    }
}
