#include "cli/run/stage_view.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/commands/plain.h"
#include "spec/verdict.h"

enum { RESULT_WIDTH = 17 };

static const char *text_of(const json_t *stage, const char *key)
{
    return json_string_value(json_object_get(stage, key));
}

/* No limit ended its program. */
static bool ended_by_itself(const json_t *stage)
{
    const char *verdict = text_of(stage, "verdict");
    return verdict && (strcmp(verdict, verdict_word(VERDICT_OK)) == 0 ||
                       strcmp(verdict, verdict_word(VERDICT_RUNTIME_ERROR)) == 0);
}

static const char *result_of(const json_t *stage)
{
    const char *verdict = text_of(stage, "verdict");
    return json_is_true(json_object_get(stage, "passed")) ? "passed"
           : ended_by_itself(stage)                       ? "failed"
                                                          : verdict;
}

static int add_figures(struct buf *b, const json_t *stage, struct err *e)
{
    const json_t *usage = json_object_get(stage, "usage");
    const json_t *status = json_object_get(stage, "exit_code");
    if (!json_is_object(usage) || !json_is_integer(status))
        return buf_addf(b, e, "%4s  %9s  %9s  ", "-", "-", "-");
    return buf_addf(b, e, "%4d  %6.0f ms  %5.1f MiB  ", (int)json_integer_value(status),
                    json_number_value(json_object_get(usage, "wall_ms")),
                    (double)json_integer_value(json_object_get(usage, "memory_peak_bytes")) /
                        (1 << 20));
}

static int add_note(struct buf *b, const json_t *stage, struct err *e)
{
    const char *signal = text_of(stage, "signal");
    if (!text_of(stage, "verdict"))
        return buf_addf(b, e, "did not begin");
    if (json_is_true(json_object_get(stage, "passed")) || !ended_by_itself(stage))
        return 0;
    if (signal)
        return buf_addf(b, e, "ended by ") || plain_add(b, signal, strlen(signal), e) ? -1 : 0;
    return buf_addf(b, e, "expected status %d",
                    (int)json_integer_value(json_object_get(stage, "expect_exit")));
}

static int add_row(struct buf *out, const json_t *stage, int width, struct err *e)
{
    if (plain_add_column(out, text_of(stage, "name"), width, e) ||
        plain_add_column(out, result_of(stage), RESULT_WIDTH, e) || add_figures(out, stage, e) ||
        add_note(out, stage, e))
        return -1;
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    return buf_addf(out, e, "\n");
}

const json_t *stage_view_failed(const json_t *result)
{
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(result, "stages"), i, stage)
        if (text_of(stage, "verdict") && !json_is_true(json_object_get(stage, "passed")))
            return stage;
    return NULL;
}

int stage_view_print(const json_t *result, struct err *e)
{
    const json_t *list = json_object_get(result, "stages"), *stage;
    int width = (int)strlen("STAGE");
    scoped(buf) out = { 0 };
    size_t i;
    if (json_array_size(list) == 0)
        return 0;
    json_array_foreach(list, i, stage) {
        const char *name = text_of(stage, "name");
        int n = name ? (int)text_characters(name, strlen(name)) : 0;
        width = n > width ? n : width;
    }
    width += 2;
    if (buf_addf(&out, e, "%-*s%-*s%4s  %9s  %9s\n", width, "STAGE", RESULT_WIDTH, "RESULT", "EXIT",
                 "TIME", "MEMORY"))
        return -1;
    json_array_foreach(list, i, stage)
        if (add_row(&out, stage, width, e))
            return -1;
    (void)fwrite(buf_str(&out), 1, out.len, stderr);
    return 0;
}
