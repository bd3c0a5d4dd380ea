#include "api/approvals/preview.h"

#include <stdio.h>
#include <string.h>

#include "api/runs/mount_request.h"
#include "api/runs/network_request.h"
#include "api/runs/stage_request.h"
#include "base/auto.h"
#include "base/text.h"
#include "checks/hidden.h"
#include "checks/risks.h"
#include "run/json.h"
#include "run/stages.h"
#include "spec/bundle.h"
#include "spec/mount.h"

/* Bytes of stdin and of each file beside the main one; number of files. They bound the row in the
 * database, and a person reads no more. */
enum { CONTENT_MAX = 16 << 10, FILES_MAX = 100 };

static json_t *string_array(char *const *list)
{
    json_t *a = json_array();
    for (; list && *list; list++)
        (void)json_array_append_new(a, json_string(*list));
    return a;
}

/* The bytes as text; "cut_after" if that is not all. */
static void put_content(json_t *o, const char *key, const char *bytes, size_t n)
{
    scoped(buf) text = { 0 };
    struct err e;
    size_t kept = n < CONTENT_MAX ? n : text_whole(bytes, CONTENT_MAX);
    if (text_add_utf8(&text, bytes, kept, &e) == 0)
        json_put(o, key, json_stringn_nocheck(buf_str(&text), text.len));
    if (kept < n)
        json_put(o, "cut_after", json_integer((json_int_t)kept));
}

static bool is_main(const struct run_spec *s, const struct bundle_entry *f)
{
    return bundle_is_named(f, s->main_name);
}

static json_t *name_of(const struct bundle_entry *f)
{
    scoped(buf) name = { 0 };
    struct err e;
    return text_add_utf8(&name, f->name, f->head.name_len, &e)
               ? NULL
               : json_stringn_nocheck(buf_str(&name), name.len);
}

static json_t *files_array(const struct run_spec *s)
{
    struct bundle_entry f;
    struct err e;
    json_t *list = json_array();
    size_t more_files = 0;
    bool more = true;
    for (size_t pos = 0; bundle_next(&s->bundle, &pos, &f, &more, &e) == 0 && more;) {
        if (json_array_size(list) >= FILES_MAX) {
            more_files++;
            continue;
        }
        json_t *o = json_object();
        json_put(o, "name", name_of(&f));
        json_put(o, "size", json_integer((json_int_t)f.head.size));
        if (f.head.mode & 0111)
            json_put(o, "executable", json_true());
        if (!is_main(s, &f) || !s->code) /* the field `code` has that file */
            put_content(o, "content", f.bytes, (size_t)f.head.size);
        (void)json_array_append_new(list, o);
    }
    if (more_files > 0)
        (void)json_array_append_new(list, json_pack("{s:I}", "not_shown", (json_int_t)more_files));
    return list;
}

static json_t *limits_object(const struct limits *l)
{
    json_t *o = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        json_put(o, limit_defs[i].key, json_integer((json_int_t)l->v[i]));
    return o;
}

/* Every option of the one table, so that no new one can be missed. */
static void put_options(json_t *o, const struct run_spec *s)
{
    bool compiles = stages_of(s->language, &s->options).at[0] != STAGE_RUN;
    for (size_t i = 0; i < RUN_OPTION_COUNT; i++) {
        const struct run_option_def *d = &run_option_defs[i];
        const void *value = run_option_of_const(&s->options, d);
        switch (d->kind) {
        case RUN_OPTION_BOOL:
            json_put(o, d->key, json_boolean(*(const bool *)value));
            break;
        case RUN_OPTION_LIST:
            json_put(o, d->key,
                     *(char *const *const *)value ? string_array(*(char *const *const *)value)
                                                  : json_null());
            break;
        case RUN_OPTION_CHOICE:
            json_put(o, d->key, json_string(d->words[*(const unsigned *)value]));
            break;
        case RUN_OPTION_LIMITS:
            if (compiles)
                json_put(o, d->key, limits_object(value));
            break;
        }
    }
}

json_t *preview_input(const struct run_spec *s)
{
    json_t *o = json_object();
    char digest[DIGEST_HEX];
    run_spec_digest(s, digest);
    json_put(o, "language", json_string(s->language->name));
    json_put(o, "code", json_text_or_null(s->code));
    json_put(o, "args", string_array(s->args));
    json_put(o, "env", string_array(s->env));
    put_content(o, "stdin", buf_str(&s->stdin_bytes), s->stdin_bytes.len);
    json_put(o, "stdin_open", json_boolean(s->stdin_open));
    json_put(o, "files", files_array(s));
    json_put(o, "entry", json_string(s->main_name));
    put_options(o, s);
    if (s->template)
        json_put(o, "template", json_string(s->template));
    json_put(o, "read_only", json_boolean(!s->writable_root));
    json_put(o, "network", network_to_json(&s->network));
    if (s->n_stages > 0)
        json_put(o, "stages", stages_to_json(s));
    if (s->mounts)
        json_put(o, "mounts", mounts_to_json(s->mounts));
    json_put(o, "outputs", string_array(s->outputs));
    json_put(o, "limits", limits_object(&s->limits));
    json_put(o, "digest", json_string(digest));
    return o;
}

/* All files together share the bound of one, so that a request with many files does not block the
 * loop. */
struct risk_scan {
    const struct run_spec *spec;
    json_t *all;
    size_t left;    /* bytes */
    size_t skipped; /* files */
};

/* The file of a stage has the language of that stage. */
static const char *language_of(const struct run_spec *s, const struct bundle_entry *f)
{
    for (size_t i = 0; i < s->n_stages; i++)
        if (bundle_is_named(f, s->stages[i].main_name))
            return s->stages[i].language->name;
    return s->language->name;
}

static void add_risks(struct risk_scan *k, const struct bundle_entry *f)
{
    size_t size = (size_t)f->head.size, i;
    json_t *risk;
    if (size > k->left && !is_main(k->spec, f)) {
        k->skipped++;
        return;
    }
    k->left -= size < k->left ? size : k->left;
    json_t *found = risks_find(language_of(k->spec, f), f->bytes, size);
    json_array_foreach(found, i, risk) {
        if (json_array_size(k->all) >= RISKS_MAX)
            break;
        if (!is_main(k->spec, f))
            json_put(risk, "file", name_of(f));
        (void)json_array_append(k->all, risk);
    }
    json_decref(found);
}

static void add_hidden_in_list(json_t *all, char *const *list, const char *name)
{
    char where[32];
    for (int i = 0; list && list[i]; i++) {
        (void)snprintf(where, sizeof where, "%s[%d]", name, i);
        hidden_find(all, list[i], strlen(list[i]), NULL, where);
    }
}

/* They come first, because a person cannot trust the look of the rest. */
static void add_hidden(json_t *all, const struct run_spec *s)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    size_t left = RISK_SCAN_MAX;
    for (size_t pos = 0; bundle_next(&s->bundle, &pos, &f, &more, &e) == 0 && more;) {
        size_t n = (size_t)f.head.size < left ? (size_t)f.head.size : left;
        json_t *name = is_main(s, &f) ? NULL : name_of(&f);
        hidden_find(all, f.bytes, n, name, NULL);
        hidden_find(all, f.name, f.head.name_len, name, "name");
        json_decref(name);
        left -= n;
    }
    add_hidden_in_list(all, s->args, "args");
    add_hidden_in_list(all, s->env, "env");
    add_hidden_in_list(all, s->mounts, "mounts");
    add_hidden_in_list(all, s->options.compiler_args, "compiler_args");
    size_t n = s->stdin_bytes.len < left ? s->stdin_bytes.len : left;
    hidden_find(all, s->stdin_bytes.data, n, NULL, "stdin");
}

static void add_open_stdin(json_t *all, const struct run_spec *s)
{
    if (s->stdin_open)
        (void)json_array_append_new(
            all, json_pack("{s:s, s:i, s:i, s:s, s:s}", "kind", "more_input", "line", 0, "column",
                           0, "excerpt", "", "why",
                           "more input follows after the decision, and nobody is shown it"));
}

/* gcc's -wrapper and -fplugin, Go's -toolexec, javac's -processorpath start programs. The compiled
 * program then need not be the one that the code shows. */
static void add_compiler_risk(json_t *all, const struct run_spec *s)
{
    scoped(buf) words = { 0 };
    struct err e;
    for (char *const *arg = s->options.compiler_args; arg && *arg; arg++)
        if (words.len < RISK_EXCERPT_MAX &&
            buf_addf(&words, &e, "%s%s", words.len ? " " : "", *arg))
            return;
    if (words.len == 0)
        return;
    size_t n = words.len < RISK_EXCERPT_MAX ? words.len : text_whole(words.data, RISK_EXCERPT_MAX);
    (void)json_array_append_new(
        all, json_pack("{s:s, s:i, s:i, s:s%, s:s}", "kind", "compiler", "line", 0, "column", 0,
                       "excerpt", words.data, n, "why",
                       "arguments of a compiler can make it start programs, and compile a "
                       "different program than the code shows"));
}

static void add_network_risk(json_t *all, const char *excerpt, const char *why)
{
    (void)json_array_append_new(all,
                                json_pack("{s:s, s:i, s:i, s:s, s:s}", "kind", "network", "line", 0,
                                          "column", 0, "excerpt", excerpt, "why", why));
}

/* Each host by its name: the person decides about hosts, not about words of the code. */
static void add_network_risks(json_t *all, const struct network_policy *p)
{
    if (p->mode == NETWORK_FULL)
        add_network_risk(all, "full", "it can reach every public host");
    for (size_t i = 0; i < p->n && json_array_size(all) < RISKS_MAX / 2; i++) {
        char text[NETWORK_RULE_TEXT];
        const struct network_rule *rule = &p->rules[i];
        network_rule_text(rule, text);
        add_network_risk(
            all, text,
            network_rule_is_broad(rule)
                ? "it can reach hosts of strangers: anybody can own a name there"
            : rule->host == NETWORK_HOST_SUBDOMAINS ? "it can reach every name beneath this one"
            : rule->port == NETWORK_EVERY_PORT
                ? "it can reach every port of this host, and send it everything that it reads"
                : "it can reach this host, and send it everything that it reads");
    }
}

static void add_secret_risks(json_t *all, const struct network_policy *p)
{
    for (size_t i = 0; i < p->n_injects && json_array_size(all) < RISKS_MAX; i++) {
        char text[NETWORK_INJECT_TEXT];
        add_network_risk(all, network_inject_text(&p->injects[i], text),
                         "its requests to this host have this secret, which it never sees");
    }
}

/* Each directory by its name, as hosts are. */
static void add_mount_risks(json_t *all, const struct run_spec *s)
{
    for (size_t i = 0; i < mount_count(s->mounts) && json_array_size(all) < RISKS_MAX; i++) {
        struct mount_view m;
        struct err e;
        if (mount_at(s->mounts, i, &m, &e))
            continue;
        (void)json_array_append_new(
            all,
            json_pack("{s:s, s:i, s:i, s:s, s:s}", "kind", "mount", "line", 0, "column", 0,
                      "excerpt", m.from, "why",
                      m.secrets ? "it can read the files in this directory of the machine, also "
                                  "files that look like secrets"
                                : "it can read the files in this directory of the machine"));
    }
}

json_t *preview_risks(const struct run_spec *s)
{
    struct risk_scan k = { .spec = s, .all = json_array(), .left = RISK_SCAN_MAX };
    struct bundle_entry f;
    struct err e;
    add_open_stdin(k.all, s);
    add_hidden(k.all, s);
    add_compiler_risk(k.all, s);
    add_mount_risks(k.all, s);
    add_network_risks(k.all, &s->network);
    add_secret_risks(k.all, &s->network);
    for (int main_first = 1; main_first >= 0; main_first--) {
        bool more = true;
        for (size_t pos = 0; bundle_next(&s->bundle, &pos, &f, &more, &e) == 0 && more;)
            if (is_main(s, &f) == (bool)main_first && json_array_size(k.all) < RISKS_MAX)
                add_risks(&k, &f);
    }
    if (k.skipped > 0)
        (void)json_array_append_new(
            k.all, json_pack("{s:s, s:i, s:i, s:s, s:s, s:I}", "kind", "not_looked_at", "line", 0,
                             "column", 0, "excerpt", "", "why",
                             "too large to be scanned together with the other files", "files",
                             (json_int_t)k.skipped));
    return k.all;
}
