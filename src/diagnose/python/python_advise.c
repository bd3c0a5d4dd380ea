/* Categories of Python's errors, the order of its rules, and the helpers that rules share. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_advise.words.h"  /* generated */
#include "diagnose/python_library.rules.h" /* generated */

enum category python_category(const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        if (strcmp(categories[i].type, type) == 0)
            return categories[i].category;
    return CATEGORY_RUNTIME;
}

/* Python documents each of its own exceptions. Other exceptions get no link. */
static void set_docs(struct diagnosis *d)
{
    const char *address = text_for(elsewhere, piece_of(d->type));
    if (address) {
        COPY(piece_of(address), d->docs);
        return;
    }
    if (strcmp(d->type, "UnsupportedOperation") == 0 ||
        (python_category(d->type) == CATEGORY_RUNTIME && !piece_among(piece_of(d->type), others)))
        return;
    (void)snprintf(d->docs, sizeof d->docs, "https://docs.python.org/3/library/exceptions.html#%s",
                   d->type);
}

void python_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    static const struct rule *const tables[] = { py_syntax_rules, py_name_rules, py_variable_rules,
                                                 py_object_rules, py_call_rules, py_operand_rules,
                                                 py_value_rules,  py_io_rules };
    struct advice a;
    advice_begin(&a, g, in, d);
    set_docs(d);
    size_t before = d->n_suggestions;
    rules_apply(&a, py_usage_rules, FIRST_RULE);
    if (d->n_suggestions == before)
        rules_apply(&a, py_cause_rules, EVERY_RULE);
    if (d->n_suggestions == before)
        rules_apply(&a, py_design_rules, EVERY_RULE);
    if (d->n_suggestions == before)
        rules_apply(&a, py_builtin_rules, EVERY_RULE);
    if (d->n_suggestions == before)
        rules_apply(&a, py_library, FIRST_RULE);
    if (d->category == CATEGORY_RESOURCE)
        advice_use_own_error(&a);
    for (size_t i = 0; d->n_suggestions == before && i < ARRAY_LEN(tables); i++)
        rules_apply(&a, tables[i], EVERY_RULE);
    if (piece_is(a.type, "ExceptionGroup") && d->n_causes > 0)
        suggest(d, 0, 0.4,
                "The group holds %zu exception%s, listed as causes: `except* %s` handles one kind "
                "of them.",
                d->n_causes, d->n_causes == 1 ? "" : "s", d->causes[0].type);
}

bool py_passed_through(const struct advice *a, const char *path)
{
    for (size_t i = 0; i < a->d->n_frames; i++)
        if (!a->d->frames[i].user && piece_has(piece_of(a->d->frames[i].at.file), path))
            return true;
    return false;
}

bool py_hint(const struct advice *a, struct piece *ret)
{
    struct match m;
    if (!match(a->g, "Did you mean: '([^']+)'\\?", a->message, &m))
        return false;
    *ret = m.group[0];
    return true;
}

bool py_assigned(const struct advice *a, struct piece name, struct piece *ret_value,
                 uint32_t *ret_line)
{
    struct piece rest = text_of_source(a->file), line;
    bool found = false;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct match m;
        if (i >= a->d->location.line && found)
            break;
        if (i == a->d->location.line ||
            !match(a->g, "^\\s*(?:global )?([A-Za-z_][\\w.]*)\\s*(?::[^=]+)?=\\s*([^=].*)$", line,
                   &m) ||
            !piece_same(m.group[0], name))
            continue;
        *ret_value = m.group[1];
        *ret_line = i;
        found = true;
    }
    return found;
}

bool py_defined(const struct advice *a, struct piece name, struct piece *ret_line,
                uint32_t *ret_number, const struct source_file **ret_file)
{
    for (size_t k = 0; k < a->in->n_sources; k++) {
        struct piece rest = text_of_source(&a->in->sources[k]), line;
        for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
            struct match m;
            if (!match(a->g, "^\\s*(?:async )?(?:def|class) (\\w+)", line, &m) ||
                !piece_same(m.group[0], name))
                continue;
            *ret_line = piece_trim(line);
            *ret_number = i;
            *ret_file = &a->in->sources[k];
            return true;
        }
    }
    return false;
}

long py_items(struct piece literal)
{
    if (literal.len < 2 || !strchr("[('\"", piece_byte(literal, 0)))
        return -1;
    char quote = 0, first = piece_byte(literal, 0);
    long depth = 0, commas = 0, letters = 0;
    bool any = false;
    for (size_t i = 0; i < literal.len; i++) {
        char c = piece_byte(literal, i);
        if (quote) {
            if (c == '\\')
                return -1;
            letters++;
            if (c == quote && depth == 0)
                return i + 1 == literal.len ? letters - 1 : -1; /* the string ends the literal */
            if (c == quote)
                quote = 0;
            continue;
        }
        if (c == '"' || c == '\'')
            quote = c, any = true;
        else if (strchr("[({", c))
            depth++, any = any || i > 0;
        else if (strchr("])}", c) && --depth == 0)
            return i + 1 != literal.len || (first == '(' && commas == 0) ? -1 : commas + any;
        else if (c == ',' && depth == 1)
            commas++, any = false;
        else if (c == '*' || (depth == 1 && starts_with(piece_skip(literal, i), "for ")))
            return -1; /* unpacked, or made by a loop: the number is not known */
        else if (c != ' ')
            any = true;
    }
    return -1;
}
