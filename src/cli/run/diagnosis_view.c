/* Prints the explanation of a failed run on a terminal. */
#include "cli/run/diagnosis_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "cli/run/terminal.h"
#include "diagnose/core/diagnose.h"
#include "run/diagnosis_json.h"

bool diagnosis_view_wanted(const struct run_arguments *o)
{
    return !o->no_diagnosis && (o->json || isatty(STDERR_FILENO));
}

void diagnosis_view_keep(struct buf *kept, const char *bytes, size_t n)
{
    enum { HALF = DIAGNOSE_TEXT_MAX / 2 };
    struct err e;
    if (n > HALF) {
        bytes += n - HALF;
        n = HALF;
    }
    if (buf_add(kept, bytes, n, &e) || kept->len <= (size_t)4 * HALF)
        return;
    memmove(kept->data + HALF, kept->data + kept->len - HALF, HALF);
    kept->data[HALF - 1] = '\n'; /* the halves do not join into one line */
    kept->len = (size_t)2 * HALF;
    kept->data[kept->len] = '\0';
}

static bool says_more(const struct diagnosis *d, const char *verdict, bool limit)
{
    static const char *const explained[] = { "cancelled", "rejected", "internal_error" };
    for (size_t i = 0; verdict && i < ARRAY_LEN(explained); i++)
        if (strcmp(verdict, explained[i]) == 0)
            return false;
    if (limit) /* the sentence of end_note.c tells the rest */
        return d->location.line != 0 || d->n_suggestions > 1;
    return strncmp(d->type, "exit ", 5) != 0 || d->n_suggestions > 0;
}

void diagnosis_view_print(const json_t *diagnosis)
{
    autofree struct diagnosis *d = malloc(sizeof *d);
    scoped(buf) text = { 0 };
    struct err e;
    const char *verdict = json_string_value(json_object_get(diagnosis, "verdict"));
    if (!d || !diagnosis_from_json(diagnosis, d))
        return;
    const char *category = json_string_value(json_object_get(diagnosis, "category"));
    bool compiling = verdict && strcmp(verdict, "compile_error") == 0;
    bool limit = (verdict && strcmp(d->type, verdict) == 0) ||
                 (compiling && category && strcmp(category, "resource") == 0);
    if (!says_more(d, verdict, limit))
        return;
    if (diagnosis_text(d, !getenv("NO_COLOR"), terminal_columns(2), &text, &e) == 0)
        (void)fprintf(stderr, "\n%s", buf_str(&text));
}
