#include "bench/svg.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"

enum {
    WIDTH = 900,
    LEFT = 270, /* where bars begin */
    RIGHT = 800,
    ROW = 24,
    BAR = 16,
    HEAD = 46,    /* title and scale of a chart */
    BETWEEN = 26, /* space between charts */
    MARGIN = 20,
};

static int add_text(struct buf *out, const char *text, struct err *e)
{
    for (; *text; text++) {
        const char *as = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
        if (as ? buf_add(out, as, strlen(as), e) : buf_add(out, text, 1, e))
            return -1;
    }
    return 0;
}

void svg_decades(const json_t *bars, int *ret_low, int *ret_high)
{
    size_t i;
    json_t *bar;
    double low = INFINITY, high = 0;
    json_array_foreach(bars, i, bar) {
        double value = json_number_value(json_object_get(bar, "value"));
        if (value > 0) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    *ret_low = high > 0 ? (int)floor(log10(low / 2)) : 0; /* so that the shortest bar is visible */
    *ret_high = high > 0 ? (int)ceil(log10(high)) : 1;
    if (*ret_high <= *ret_low)
        *ret_high = *ret_low + 1;
}

struct chart {
    int low, high, top; /* decades; y of the first row */
    size_t rows;
    const char *unit;
};

static double x_of(const struct chart *c, double value)
{
    double share = (log10(value) - c->low) / (c->high - c->low);
    return LEFT + fmin(fmax(share, 0), 1) * (RIGHT - LEFT);
}

static int add_scale(struct buf *out, const struct chart *c, struct err *e)
{
    for (int decade = c->low; decade <= c->high; decade++) {
        double x = x_of(c, pow(10, decade));
        if (buf_addf(out, e,
                     "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n"
                     "<text class=\"scale\" x=\"%.1f\" y=\"%d\">%g</text>\n",
                     x, c->top - 4, x, c->top + (int)c->rows * ROW, x, c->top - 8, pow(10, decade)))
            return -1;
    }
    return 0;
}

/* As few digits after the point as its size allows: 0.84, 7.3, 412. */
static int digits(double value)
{
    return value < 1 ? 2 : value < 100 ? 1 : 0;
}

static int add_bar(struct buf *out, const struct chart *c, size_t row, const json_t *bar,
                   struct err *e)
{
    int y = c->top + (int)row * ROW;
    double value = json_number_value(json_object_get(bar, "value"));
    const char *label = json_string_value(json_object_get(bar, "label"));
    char number[32];
    double end = value > 0 ? x_of(c, value) : LEFT;
    (void)snprintf(number, sizeof number, "%.*f", digits(value), value);
    if (buf_addf(out, e, "<text class=\"label\" x=\"%d\" y=\"%d\">", LEFT - 10, y + 16) ||
        add_text(out, label ? label : "", e) ||
        buf_addf(out, e,
                 "</text>\n<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n"
                 "<text class=\"value\" x=\"%.1f\" y=\"%d\">%s ",
                 json_is_true(json_object_get(bar, "ours")) ? "ours" : "other", LEFT, y + 4,
                 end - LEFT, BAR, end + 6, y + 16, number) ||
        add_text(out, c->unit, e))
        return -1;
    return buf_addf(out, e, "</text>\n");
}

static int add_chart(struct buf *out, const json_t *chart, int top, struct err *e)
{
    size_t i;
    json_t *bar;
    const json_t *bars = json_object_get(chart, "bars");
    const char *title = json_string_value(json_object_get(chart, "title"));
    const char *unit = json_string_value(json_object_get(chart, "unit"));
    struct chart c = { .top = top + HEAD, .rows = json_array_size(bars), .unit = unit ? unit : "" };
    svg_decades(bars, &c.low, &c.high);
    if (buf_addf(out, e, "<text class=\"title\" x=\"%d\" y=\"%d\">", MARGIN, top + 18) ||
        add_text(out, title ? title : "", e) ||
        buf_addf(out, e, " (%s, logarithmic)</text>\n", c.unit) || add_scale(out, &c, e))
        return -1;
    json_array_foreach(bars, i, bar) {
        if (add_bar(out, &c, i, bar, e))
            return -1;
    }
    return 0;
}

static int chart_height(const json_t *chart)
{
    return HEAD + (int)json_array_size(json_object_get(chart, "bars")) * ROW + BETWEEN;
}

int svg_render(const json_t *charts, struct buf *out, struct err *e)
{
    size_t i;
    json_t *chart;
    int height = 2 * MARGIN, top = MARGIN;
    json_array_foreach(charts, i, chart) {
        height += chart_height(chart);
    }
    if (buf_addf(out, e,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                 "viewBox=\"0 0 %d %d\">\n"
                 "<style>text{font-family:sans-serif;font-size:13px;fill:#222}"
                 ".title{font-size:15px;font-weight:bold}.label{text-anchor:end}"
                 ".scale{font-size:11px;fill:#666;text-anchor:middle}.grid{stroke:#ddd}"
                 ".ours{fill:#0b7285}.other{fill:#adb5bd}</style>\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                 WIDTH, height, WIDTH, height))
        return -1;
    json_array_foreach(charts, i, chart) {
        if (add_chart(out, chart, top, e))
            return -1;
        top += chart_height(chart);
    }
    return buf_addf(out, e, "</svg>\n");
}

int svg_save(const json_t *charts, const char *path, struct err *e)
{
    scoped(buf) text = { 0 };
    if (svg_render(charts, &text, e))
        return -1;
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, text.data, text.len))
        return err_set(e, ERR_KERNEL, errno, "write %s", path);
    return 0;
}
