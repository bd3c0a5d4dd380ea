#include "api/approvals/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/shell_line.h"
#include "base/auto.h"
#include "base/strv.h"
#include "spec/bundle.h"

static bool is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

/* ---- deny ---- */

static bool bytes_contain(const void *bytes, size_t n, const char *text)
{
    return n > 0 && memmem(bytes, n, text, strlen(text));
}

/* In any file: moving the text to a file beside the main one, or into its name, does not evade the
 * rule. */
static bool bundle_contains(const struct buf *bundle, const char *text)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(bundle, &pos, &f, &more, &e) == 0 && more;)
        if (bytes_contain(f.bytes, (size_t)f.head.size, text) ||
            bytes_contain(f.name, f.head.name_len, text))
            return true;
    return false;
}

static bool list_contains(char *const *list, const char *text)
{
    for (; list && *list; list++)
        if (strstr(*list, text))
            return true;
    return false;
}

static bool network_contains(const struct network_policy *p, const char *text)
{
    char rule[NETWORK_RULE_TEXT];
    if (p->mode == NETWORK_FULL) /* it has every host, also the one that a rule names */
        return strcmp(text, "full") == 0 ||
               (network_name_is_plain(text) && network_name_labels(text) > 1);
    for (size_t i = 0; i < p->n; i++)
        if (strstr(network_rule_text(&p->rules[i], rule), text))
            return true;
    for (size_t i = 0; i < p->n_injects; i++) {
        char inject[NETWORK_INJECT_TEXT];
        if (strstr(network_inject_text(&p->injects[i], inject), text))
            return true;
    }
    return false;
}

/* Arguments, environment and input can be code too (eval "$1"), and arguments of a compiler can
 * make it start programs. */
static bool spec_contains(const struct run_spec *s, const char *text)
{
    return bundle_contains(&s->bundle, text) || list_contains(s->args, text) ||
           list_contains(s->env, text) || list_contains(s->options.compiler_args, text) ||
           network_contains(&s->network, text) || list_contains(s->mounts, text) ||
           bytes_contain(s->stdin_bytes.data, s->stdin_bytes.len, text);
}

static bool find_main(const struct run_spec *s, struct bundle_entry *ret)
{
    struct err e;
    bool more = true;
    /* A session has no program of its own. */
    for (size_t pos = 0;
         s->main_name && bundle_next(&s->bundle, &pos, ret, &more, &e) == 0 && more;)
        if (bundle_is_named(ret, s->main_name))
            return true;
    return false;
}

/* Looks at the file: a program that is not text has no `code`. */
static bool main_begins(const struct run_spec *s, const char *text)
{
    struct bundle_entry f;
    size_t n = strlen(text);
    return find_main(s, &f) && f.head.size >= n && memcmp(f.bytes, text, n) == 0;
}

/* The program of a run, or the program of one of its stages. */
static bool any_begins(const struct run_spec *s, const char *text)
{
    struct run_spec view = *s;
    bool begins = main_begins(s, text);
    for (size_t i = 0; i < s->n_stages && !begins; i++) {
        view.main_name = s->stages[i].main_name;
        begins = main_begins(&view, text);
    }
    return begins;
}

static bool denies(const struct rule_row *r, const struct run_spec *s)
{
    return is(r->match, "any")        ? true
           : is(r->match, "contains") ? spec_contains(s, r->text)
                                      : any_begins(s, r->text);
}

/* ---- allow ---- */

static bool has_one_file(const struct run_spec *s)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    size_t n = 0;
    for (size_t pos = 0; bundle_next(&s->bundle, &pos, &f, &more, &e) == 0 && more;)
        n++;
    return n == 1;
}

static int refuse_extra(struct err *e, const char *what)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "the run has %s beside its command", what);
}

int rule_command_of(const struct run_spec *s, char ***ret_words, struct err *e)
{
    const struct {
        bool is_there;
        const char *what;
    } extra[] = {
        { !has_one_file(s), "files" },
        { strv_len(s->args) > 0, "arguments" },
        { strv_len(s->env) > 0, "variables" },
        { s->stdin_bytes.len > 0 || s->stdin_open, "stdin" },
        { s->writable_root, "a writable root" },
        { s->network.mode != NETWORK_NONE, "a network" },
        { s->mounts != NULL, "mounts" },
        { s->n_stages > 0, "stages" },
    };
    struct bundle_entry f;
    if (!is(s->language->name, "bash"))
        return err_set(e, ERR_BAD_REQUEST, 0, "the language is '%s', and a command is bash",
                       s->language->name);
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        if (extra[i].is_there)
            return refuse_extra(e, extra[i].what);
    if (!find_main(s, &f))
        return refuse_extra(e, "no file");
    return shell_line_words(f.bytes, (size_t)f.head.size, ret_words, e);
}

static void words_done(char ***words)
{
    strv_free(*words);
}

static bool command_begins(const struct run_spec *s, const char *prefix)
{
    [[gnu::cleanup(words_done)]] char **command = NULL;
    [[gnu::cleanup(words_done)]] char **start = NULL;
    struct err e;
    if (rule_command_of(s, &command, &e) || shell_line_words(prefix, strlen(prefix), &start, &e))
        return false;
    for (size_t i = 0; start[i]; i++)
        if (!command[i] || !is(command[i], start[i]))
            return false;
    return true;
}

static bool is_exactly(const struct run_spec *s, const char *digest)
{
    char own[DIGEST_HEX];
    if (s->stdin_open) /* the rest of its input is not known yet */
        return false;
    run_spec_digest(s, own);
    return is(own, digest);
}

bool rule_is_void(const struct rule_row *r, char *ret_why, size_t size)
{
    [[gnu::cleanup(words_done)]] char **words = NULL;
    struct err e = { 0 };
    if (!is(r->action, "allow"))
        return false;
    if (r->requester && !*r->requester)
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "it does not know whose run was approved");
    else if (is(r->match, "contains"))
        (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                       "code that contains a text can do anything else beside it");
    else if (is(r->match, "prefix") && (!r->language || !is(r->language, "bash")))
        (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                       "only a command of bash is allowed by its beginning");
    else if (!is(r->match, "prefix") || shell_line_words(r->text, strlen(r->text), &words, &e) == 0)
        return false;
    (void)snprintf(ret_why, size, "%s", e.text);
    return true;
}

static bool allows(const struct rule_row *r, const struct run_spec *s)
{
    char why[sizeof((struct err *)0)->text];
    if (rule_is_void(r, why, sizeof why))
        return false;
    return is(r->match, "any")     ? s->network.mode == NETWORK_NONE
           : is(r->match, "exact") ? is_exactly(s, r->text)
                                   : command_begins(s, r->text);
}

/* ---- both ---- */

/* A rule that denies a language concerns a run with one stage in that language. A rule that allows
 * one concerns a run only if all of its stages have that language. */
static bool has_language(const struct rule_row *r, const struct run_spec *s)
{
    size_t n = 0;
    if (!r->language)
        return true;
    if (s->n_stages == 0)
        return is(r->language, s->language->name);
    for (size_t i = 0; i < s->n_stages; i++)
        n += is(r->language, s->stages[i].language->name);
    return is(r->action, "allow") ? n == s->n_stages : n > 0;
}

static bool concerns(const struct rule_row *r, const struct run_spec *s)
{
    return is(r->tool, "execute") && (!r->thread || (s->thread && is(r->thread, s->thread))) &&
           has_language(r, s) &&
           (!r->requester || (s->requester && is(r->requester, s->requester)));
}

static const struct rule_row *first(const struct rule_rows *rules, const char *action,
                                    const struct run_spec *s,
                                    bool (*holds)(const struct rule_row *, const struct run_spec *))
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule_row *r = &rules->rows[i];
        if (is(r->action, action) && concerns(r, s) && holds(r, s))
            return r;
    }
    return NULL;
}

const struct rule_row *rules_denying(const struct rule_rows *rules, const struct run_spec *s)
{
    return first(rules, "deny", s, denies);
}

const struct rule_row *rules_allowing(const struct rule_rows *rules, const struct run_spec *s)
{
    return first(rules, "allow", s, allows);
}

const struct rule_row *rules_denying_stdin(const struct rule_rows *rules, const struct run *run,
                                           const void *bytes, size_t n)
{
    scoped(buf) seen = { 0 };
    struct err e;
    const struct buf *tail = &run->stdin_tail;
    bool whole = buf_add(&seen, tail->data, tail->len, &e) == 0 &&
                 buf_add(&seen, bytes, n, &e) == 0;
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule_row *r = &rules->rows[i];
        if (!is(r->action, "deny") || !concerns(r, &run->spec) || is(r->match, "prefix"))
            continue;
        if (!whole || is(r->match, "any") || bytes_contain(seen.data, seen.len, r->text))
            return r;
    }
    return NULL;
}

bool rules_look_inside(const struct rule_rows *rules, const struct run_spec *s)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule_row *r = &rules->rows[i];
        if (is(r->action, "deny") && concerns(r, s) && !is(r->match, "prefix"))
            return true;
    }
    return false;
}

int rules_add(struct rule_rows *rules, struct rule_row *r, struct err *e)
{
    struct rule_row *rows = realloc(rules->rows, (rules->n + 1) * sizeof *rows);
    if (!rows) {
        rule_row_done(r);
        return err_no_memory(e, "a rule");
    }
    rules->rows = rows;
    rows[rules->n++] = *r;
    *r = (struct rule_row){ 0 };
    return 0;
}

void rules_remove(struct rule_rows *rules, const char *id)
{
    for (size_t i = 0; i < rules->n; i++)
        if (is(rules->rows[i].id, id)) {
            rule_row_done(&rules->rows[i]);
            rules->rows[i] = rules->rows[--rules->n];
            return;
        }
}
