/* Tables of rules: *.rules. Runs on the build machine. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/core/diagnose.h"
#include "diagnose/gen/gen.h"

enum { RULES_MAX = 400, NUMBER_LAST = 40 /* in README.md */, GROUPS_MAX = 9 };

enum key { TYPE, MATCH, IS, NUMBER, SAY, LINE, CALL, NAMES, DOCS, KEYS };
static const char *const key_words[KEYS] = { "type", "match", "is",    "number", "say",
                                             "line", "call",  "names", "docs" };

struct rule_text {
    unsigned line;
    const char *of[KEYS]; /* NULL: the rule does not have it */
};

struct rule_table {
    const char *name;
    bool shared;
    struct rule_text rules[RULES_MAX];
    size_t n;
};

/* ---- checks ---- */

/* How many groups the pattern has. */
static unsigned groups_of(const struct reader *r, const char *pattern)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    uint32_t groups = 0;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                         PCRE2_DOLLAR_ENDONLY, &code, &at, NULL);
    if (!compiled) {
        char why[200] = "";
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        refuse(r, "the pattern is broken at byte %zu: %s", at + 1, why);
    }
    (void)pcre2_pattern_info(compiled, PCRE2_INFO_CAPTURECOUNT, &groups);
    pcre2_code_free(compiled);
    if (groups > GROUPS_MAX)
        refuse(r, "the pattern has %u groups, and %d are accepted: write (?:...) for the others",
               groups, GROUPS_MAX);
    return groups;
}

static void check_text(const struct reader *r, const char *text, size_t size, unsigned groups)
{
    if (strlen(text) >= size)
        refuse(r, "the text has %zu bytes, and %zu are accepted", strlen(text), size - 1);
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c > '~')
            refuse(r, "'%s' has a character outside of ASCII: patterns alone may have one", text);
        if (c[0] == '{' && c[1] >= '1' && c[1] <= '9' && c[2] == '}' &&
            (unsigned)(c[1] - '0') > groups)
            refuse(r, "{%c} stands for a group that the pattern does not have: it has %u", c[1],
                   groups);
    }
}

/* The number that the text begins with; *ret_rest is the text behind it and its spaces. */
static double confidence_of(const struct reader *r, const char *text, const char **ret_rest)
{
    char *end;
    double value = strtod(text, &end);
    if (strspn(text, "0123456789.") != (size_t)(end - text) || end == text || *end != ' ' ||
        value <= 0 || value > 1)
        refuse(r, "`say` takes a confidence over 0 and up to 1, and then a text, not '%.20s'",
               text);
    *ret_rest = end + strspn(end, " ");
    return value;
}

static void check_rule(const struct reader *r, const struct rule_text *rule)
{
    const char *text;
    if (!rule->of[MATCH] && !rule->of[TYPE])
        refuse(r, "the rule fits no error: write `match PATTERN`, `type NAME`, or both");
    if (!rule->of[IS] && !rule->of[SAY] && !rule->of[CALL])
        refuse(r, "the rule has no effect: write `is CATEGORY`, `say CONFIDENCE TEXT` or `call "
                  "FUNCTION`");
    unsigned groups = rule->of[MATCH] ? groups_of(r, rule->of[MATCH]) : 0;
    if (rule->of[IS])
        (void)category_id(r, rule->of[IS]);
    if (rule->of[NUMBER]) {
        char *end;
        unsigned long n = strtoul(rule->of[NUMBER], &end, 10);
        if (*end || n < 1 || n > NUMBER_LAST)
            refuse(r, "'%s' is not a number of the list in README.md: 1 to %d", rule->of[NUMBER],
                   NUMBER_LAST);
    }
    if (rule->of[SAY]) {
        (void)confidence_of(r, rule->of[SAY], &text);
        check_text(r, text, sizeof((struct suggestion *)NULL)->text, groups);
    }
    if (rule->of[LINE]) {
        check_text(r, rule->of[LINE], sizeof((struct suggestion *)NULL)->replacement, groups);
        if (!rule->of[SAY])
            refuse(r, "`line` belongs to a text: write `say CONFIDENCE TEXT` too");
    }
    if (rule->of[DOCS]) {
        check_text(r, rule->of[DOCS], sizeof((struct diagnosis *)NULL)->docs, groups);
        if (strncmp(rule->of[DOCS], "https://", 8) != 0)
            refuse(r, "'%s' is not an address: https://...", rule->of[DOCS]);
    }
    for (enum key k = CALL; k <= NAMES; k++)
        if (rule->of[k] && !is_identifier(rule->of[k]))
            refuse(r, "'%s' is not a name of C: letters, digits and _ are accepted", rule->of[k]);
    if (rule->of[NAMES] && !rule->of[CALL])
        refuse(r, "`names` is for a function: write `call FUNCTION` too");
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_new(const struct reader *r, const struct rule_table *t)
{
    const struct rule_text *last = &t->rules[t->n - 1];
    for (size_t i = 0; i + 1 < t->n; i++)
        if (same(t->rules[i].of[TYPE], last->of[TYPE]) &&
            same(t->rules[i].of[MATCH], last->of[MATCH]))
            refuse(r, "the rule of line %u has the same pattern: remove one of them",
                   t->rules[i].line);
}

/* ---- reading ---- */

/* The rule that was read last is complete. */
static void end_rule(struct reader *r, const struct rule_table *t)
{
    if (!t || t->n == 0)
        return;
    unsigned line = r->line;
    r->line = t->rules[t->n - 1].line;
    check_rule(r, &t->rules[t->n - 1]);
    check_new(r, t);
    r->line = line;
}

static void read_key(const struct reader *r, struct rule_text *rule, const char *word,
                     const char *value)
{
    for (enum key k = 0; k < KEYS; k++) {
        if (strcmp(word, key_words[k]) != 0)
            continue;
        if (rule->of[k])
            refuse(r, "`%s` stands twice in one rule: a blank line begins the next rule", word);
        if (!*value)
            refuse(r, "`%s` has no value", word);
        size_t n = strlen(value);
        bool quoted = k == LINE && n >= 2 && value[0] == '"' && value[n - 1] == '"';
        char *copy = kept(value + quoted); /* a line in quotes keeps its indentation */
        if (quoted)
            copy[n - 2] = '\0';
        rule->of[k] = copy;
        return;
    }
    refuse(r,
           "'%s' is not a key of a rule: type, match, is, number, say, line, call, names, docs; "
           "`table` "
           "and `let` begin a line too",
           word);
}

/* ---- writing ---- */

static void put_member(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, " .%s = ", name);
    put_literal(out, text);
    (void)fputc(',', out);
}

static void put_rule(const struct reader *r, FILE *out, const struct rule_text *rule)
{
    const char *const *of = rule->of;
    const char *text;
    put_place(out, r, rule->line);
    (void)fputc('{', out);
    if (of[TYPE])
        put_member(out, "type", strcmp(of[TYPE], "any") == 0 ? "" : of[TYPE]);
    put_member(out, "pattern", of[MATCH] ? of[MATCH] : "");
    if (of[IS])
        (void)fprintf(out, " .category = %s,", category_id(r, of[IS]));
    if (of[NUMBER])
        (void)fprintf(out, " .number = %s,", of[NUMBER]);
    if (of[SAY]) {
        (void)fprintf(out, " .confidence = %.17g,", confidence_of(r, of[SAY], &text));
        put_member(out, "text", text);
    }
    if (of[LINE])
        put_member(out, "replacement", of[LINE]);
    if (of[CALL])
        (void)fprintf(out, " .advise = %s,", of[CALL]);
    if (of[NAMES])
        (void)fprintf(out, " .names = %s,", of[NAMES]);
    if (of[DOCS])
        put_member(out, "docs", of[DOCS]);
    (void)fputs(" },\n", out);
}

static void put_table(const struct reader *r, FILE *out, const struct rule_table *t)
{
    if (t->n == 0)
        refuse(r, "the table '%s' has no rules", t->name);
    (void)fprintf(out, "%sconst struct rule %s[] = {\n", t->shared ? "" : "static ", t->name);
    for (size_t i = 0; i < t->n; i++)
        put_rule(r, out, &t->rules[i]);
    (void)fputs("{ .pattern = NULL },\n};\n", out);
}

void write_rules(struct reader *r, FILE *out)
{
    static struct rule_table t;
    struct rule_table *open = NULL;
    while (reader_next(r)) {
        char *value;
        bool apart = r->apart;
        const char *word = first_word(r, &value);
        if (apart || strcmp(word, "table") == 0)
            end_rule(r, open);
        if (strcmp(word, "table") == 0) {
            if (open)
                put_table(r, out, open);
            t = (struct rule_table){ 0 };
            open = &t;
            read_name(r, value, &t.name, &t.shared);
            continue;
        }
        if (!open)
            refuse(r, "a rule outside of a table: write `table NAME` above");
        if (apart || t.n == 0) {
            if (t.n == RULES_MAX)
                refuse(r, "one rule too many: a table has at most %d", RULES_MAX);
            t.rules[t.n++] = (struct rule_text){ .line = r->line };
        }
        read_key(r, &t.rules[t.n - 1], word, value);
    }
    end_rule(r, open);
    if (!open)
        refuse(r, "no table: write `table NAME`, and its rules below");
    put_table(r, out, open);
}
