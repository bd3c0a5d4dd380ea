/* For any output and any source of a program, the explanation ends, stays within its memory, and
 * can be shown and sent. The first byte chooses the grammar. A NUL separates the text from the
 * source. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/grammar.h"
#include "run/diagnosis_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const grammars[] = { "python", "node",   "typescript", "shell", "ruby", "go",
                                        "rust",   "gcc",    "java",       "php",   "perl", "lua",
                                        "r",      "sqlite", "postgres",   NULL };

static void check(const struct diagnosis *d)
{
    struct err e;
    scoped(buf) text = { 0 };
    struct diagnosis again;
    json_t *json = diagnosis_json(d);
    if (!json || diagnosis_text(d, true, 40, &text, &e) || !diagnosis_from_json(json, &again))
        abort();
    for (size_t i = 1; i < d->n_suggestions; i++)
        if (d->suggestions[i].confidence > d->suggestions[i - 1].confidence)
            abort();
    for (size_t i = 0; i < d->n_excerpt; i++)
        if (!text_is_utf8(d->excerpt[i].text, strlen(d->excerpt[i].text)))
            abort();
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct diagnoser *g;
    struct err e;
    struct diagnosis d;
    if (size == 0 || (!g && diagnoser_new(&g, &e)))
        return 0;
    const char *grammar = grammars[data[0] % (ARRAY_LEN(grammars))];
    const char *text = (const char *)data + 1;
    const char *nul = memchr(text, 0, size - 1);
    size_t len = nul ? (size_t)(nul - text) : size - 1;
    const struct source_file source = { "main.py", nul ? nul + 1 : text,
                                        nul ? size - 2 - len : len };
    const struct evidence ev = { .exit_code = data[0], .signal = data[0] % 32 };
    const struct limits limits = limits_default();
    const struct usage usage = { 1, 2, 3, 4 };
    const struct diagnose_input in = {
        .grammar = grammar,
        .compiling = data[0] & 2,
        .text = text,
        .len = len,
        .printed = text,
        .printed_len = len,
        .whereabouts = text,
        .whereabouts_len = len,
        .main_name = "main.py",
        .sources = &source,
        .n_sources = 1,
        .evidence = data[0] & 1 ? &ev : NULL,
        .limits = &limits,
        .usage = &usage,
        .verdict = (enum verdict)(1 + data[0] % (VERDICT_COUNT_ - 1)),
        .sealed = true,
    };
    if (diagnose(g, &in, &d))
        check(&d);
    if (match_broken(g))
        abort();
    return 0;
}
