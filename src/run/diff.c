#include "run/diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

struct side {
    const char *lines[DIFF_LINES_MAX];
    size_t sizes[DIFF_LINES_MAX];
    size_t n;
};

static bool split(const char *text, struct side *s)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (s->n == DIFF_LINES_MAX)
            return false;
        s->lines[s->n] = text;
        s->sizes[s->n++] = n;
        text += n + (text[n] == '\n');
    }
    return true;
}

static bool same(const struct side *a, size_t i, const struct side *b, size_t j)
{
    return a->sizes[i] == b->sizes[j] && memcmp(a->lines[i], b->lines[j], a->sizes[i]) == 0;
}

static int put(json_t *list, char mark, const struct side *s, size_t i)
{
    scoped(buf) line = { 0 };
    struct err e;
    if (buf_add(&line, &mark, 1, &e) || buf_add(&line, s->lines[i], s->sizes[i], &e))
        return -1;
    return json_array_append_new(list, json_stringn(line.data, line.len));
}

/* common[i][j]: the length of the longest common subsequence of the lines from i on and from j
 * on. */
static void fill_common(uint16_t *common, const struct side *a, const struct side *b)
{
    size_t width = b->n + 1;
    for (size_t i = a->n; i-- > 0;)
        for (size_t j = b->n; j-- > 0;) {
            uint16_t down = common[(i + 1) * width + j], right = common[i * width + j + 1];
            common[i * width + j] = same(a, i, b, j)
                                        ? (uint16_t)(common[(i + 1) * width + j + 1] + 1)
                                        : (down > right ? down : right);
        }
}

static int walk(json_t *list, const uint16_t *common, const struct side *a, const struct side *b)
{
    size_t width = b->n + 1, i = 0, j = 0;
    int failed = 0;
    while (!failed && (i < a->n || j < b->n)) {
        if (i < a->n && j < b->n && same(a, i, b, j)) {
            failed = put(list, ' ', a, i++);
            j++;
        } else if (j == b->n ||
                   (i < a->n && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
            failed = put(list, '-', a, i++);
        } else {
            failed = put(list, '+', b, j++);
        }
    }
    return failed;
}

json_t *diff_lines(const char *before, const char *after)
{
    autofree struct side *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    if (!a || !b || strlen(before) > DIFF_BYTES_MAX || strlen(after) > DIFF_BYTES_MAX ||
        !split(before, a) || !split(after, b))
        return json_null();
    autofree uint16_t *common = calloc((a->n + 1) * (b->n + 1), sizeof *common);
    json_t *list = json_array();
    if (common)
        fill_common(common, a, b);
    if (!common || !list || walk(list, common, a, b)) {
        json_decref(list);
        return json_null();
    }
    return list;
}
