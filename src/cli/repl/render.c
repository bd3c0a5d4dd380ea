#include "cli/repl/render.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/limit.h"

/* Text that is no output of the program: without characters that control a terminal. */
static void print_plainly(FILE *to, const char *text)
{
    for (size_t len = strlen(text); len > 0;) {
        size_t n = text_printable(text, len);
        if (n || *text == '\n' || *text == '\t')
            (void)fwrite(text, 1, n ? n : 1, to);
        text += n ? n : 1;
        len -= n ? n : 1;
    }
}

static void print_line(FILE *to, const char *text)
{
    size_t len = strlen(text);
    print_plainly(to, text);
    if (len == 0 || text[len - 1] != '\n')
        (void)fputc('\n', to);
}

/* ---- streams ---- */

static void note_end(const struct renderer *r, const char *bytes, size_t n)
{
    if (r->middle && n > 0)
        *r->middle = bytes[n - 1] != '\n';
}

/* Begins a new line if the output has not: a prompt, a traceback or a table would hide its end. */
static void end_line(const struct renderer *r)
{
    if (!r->middle || !*r->middle)
        return;
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
    *r->middle = false;
}

static int render_stream(const struct renderer *r, FILE *to, const json_t *event, struct err *e)
{
    const json_t *data = json_object_get(event, "data");
    const char *base64 = json_get_text(event, "data_base64");
    scoped(buf) bytes = { 0 };
    if (to == stderr)
        (void)fflush(stdout);
    if (*base64) {
        if (text_base64_decode(base64, strlen(base64), &bytes, e))
            return 0; /* not a failure of ours */
        (void)fwrite(buf_str(&bytes), 1, bytes.len, to);
        note_end(r, buf_str(&bytes), bytes.len);
    } else if (json_is_string(data)) {
        (void)fwrite(json_string_value(data), 1, json_string_length(data), to);
        note_end(r, json_string_value(data), json_string_length(data));
    }
    return 0;
}

/* ---- displays ---- */

static const struct {
    const char *mime, *end;
    bool text; /* it is not base64 */
} images[] = { { "image/png", "png", false },
               { "image/jpeg", "jpg", false },
               { "image/gif", "gif", false },
               { "image/svg+xml", "svg", true } };

/* An image that cannot be read is only saved. */
static void show_sixels(const struct sixel *s, const struct buf *png)
{
    struct raster r = { 0 };
    scoped(buf) sequence = { 0 };
    struct err e;
    if (!s || sixel_decode(s, png, &r, &e))
        return;
    if (sixel_encode(&r, &sequence, &e) == 0) {
        (void)fwrite(sequence.data, 1, sequence.len, stdout);
        (void)fputc('\n', stdout);
    }
    raster_done(&r);
}

/* Shows a PNG in the terminal: kitty wants it in pieces. */
static void show_inline(const struct renderer *r, const char *base64, const struct buf *png)
{
    enum { PIECE = 4096 };
    enum image_protocol p = r->images;
    size_t len = strlen(base64);
    if (p == IMAGES_SIXEL)
        show_sixels(r->sixel, png);
    if (p == IMAGES_ITERM)
        (void)printf("\033]1337;File=inline=1:%s\a\n", base64);
    for (size_t at = 0; p == IMAGES_KITTY && at < len; at += PIECE) {
        size_t n = len - at > PIECE ? PIECE : len - at;
        (void)printf("\033_G%sm=%d;%.*s\033\\", at == 0 ? "f=100,a=T," : "", at + n < len, (int)n,
                     base64 + at);
    }
    if (p == IMAGES_KITTY)
        (void)printf("\n");
}

static bool is_base64(const char *text)
{
    return text[strspn(
               text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")] == '\0';
}

static int render_image(const struct renderer *r, const json_t *data, bool *ret_done, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(images); i++) {
        const char *text = json_get_text(data, images[i].mime);
        scoped(buf) bytes = { 0 };
        if (!*text)
            continue;
        if (images[i].text ? buf_add(&bytes, text, strlen(text), e)
                           : !is_base64(text) || text_base64_decode(text, strlen(text), &bytes, e))
            return 0;
        if (i == 0)
            show_inline(r, text, &bytes);
        *ret_done = true;
        return r->on_image(r->arg, images[i].end, &bytes, e);
    }
    return 0;
}

static int render_bundle(const struct renderer *r, const json_t *event, struct err *e)
{
    const json_t *data = json_object_get(event, "data");
    static const char *const texts[] = { "text/plain", "text/markdown", "text/latex" };
    bool done = false;
    if (render_image(r, data, &done, e))
        return -1;
    for (size_t i = 0; !done && i < ARRAY_LEN(texts); i++) {
        const char *text = json_get_text(data, texts[i]);
        done = *text != '\0';
        if (done)
            print_line(stdout, text);
    }
    return 0;
}

static void render_error(const json_t *event)
{
    const char *trace = json_get_text(event, "traceback");
    (void)fflush(stdout);
    if (*trace) {
        print_line(stderr, trace);
        return;
    }
    print_plainly(stderr, json_get_text(event, "name"));
    (void)fputs(": ", stderr);
    print_line(stderr, json_get_text(event, "message"));
}

static void render_note(const char *text)
{
    (void)fflush(stdout);
    (void)fputs("belljar: ", stderr);
    print_line(stderr, text);
}

static void render_notes(const json_t *result)
{
    size_t i;
    const json_t *note;
    json_array_foreach(json_object_get(result, "notes"), i, note)
        render_note(json_string_value(note) ? json_string_value(note) : "");
}

int render_event(const struct renderer *r, const char *name, const json_t *event, struct err *e)
{
    if (strcmp(name, "stdout") == 0)
        return render_stream(r, stdout, event, e);
    if (strcmp(name, "stderr") == 0)
        return render_stream(r, stderr, event, e);
    end_line(r);
    if (strcmp(name, "display") == 0 || strcmp(name, "update_display") == 0 ||
        strcmp(name, "result") == 0)
        return render_bundle(r, event, e);
    if (strcmp(name, "error") == 0)
        render_error(event);
    if (strcmp(name, "note") == 0)
        render_note(json_get_text(event, "text"));
    if (strcmp(name, "done") == 0)
        render_notes(json_object_get(event, "result"));
    return 0;
}

/* ---- answers ---- */

void render_variables(const json_t *answer)
{
    const json_t *list = json_object_get(answer, "variables"), *v;
    size_t i, name_width = 4, type_width = 4;
    json_array_foreach(list, i, v) {
        size_t name = strlen(json_get_text(v, "name")), type = strlen(json_get_text(v, "type"));
        name_width = name > name_width && name <= 30 ? name : name_width;
        type_width = type > type_width && type <= 20 ? type : type_width;
    }
    if (json_array_size(list) == 0)
        (void)printf("There are no variables.\n");
    json_array_foreach(list, i, v) {
        (void)printf("%-*.30s  %-*.20s  ", (int)name_width, QUOTED(json_get_text(v, "name")),
                     (int)type_width, QUOTED(json_get_text(v, "type")));
        print_line(stdout, json_get_text(v, "preview"));
    }
}

void render_inspection(const json_t *answer)
{
    if (json_is_true(json_object_get(answer, "found")))
        print_line(stdout, json_get_text(answer, "text"));
    else
        (void)printf("Nothing is known about this name.\n");
}

/* The session has the limits of its life, and a cell has some of its own. */
static void print_limits(const char *title, const json_t *limits, bool of_cells)
{
    (void)printf("%s\n", title);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        const json_t *value = json_object_get(limits, d->key);
        char text[32];
        if (value && of_cells == (i == LIMIT_WALL_MS || i == LIMIT_CPU_MS || i == LIMIT_OUTPUT))
            (void)printf(
                "  %-12s %s\n", d->option,
                unit_format(d->unit, (uint64_t)json_integer_value(value), text, sizeof text));
    }
}

void render_limits(const json_t *session)
{
    print_limits("of the session", json_object_get(session, "limits"), false);
    print_limits("of each cell", json_object_get(session, "cell_limits"), true);
}
