#include "network/preset.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "base/text.h"

const struct network_preset network_presets[] = {
    { "pypi", "pypi.org:443 files.pythonhosted.org:443" },
    { "npm", "registry.npmjs.org:443" },
    { "debian", "deb.debian.org security.debian.org" },
    { "github", "github.com:443 api.github.com:443 codeload.github.com:443 "
                "*.githubusercontent.com:443 github.com:22" },
};
const size_t network_presets_count = ARRAY_LEN(network_presets);

enum { NAME_MAX_BYTES = 32, ENTRY_MAX = 4 * NETWORK_NAME_MAX + 32 };

static bool is_name(const char *name, size_t n)
{
    return n > 0 && n <= NAME_MAX_BYTES &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") >= n;
}

/* The next piece of a text between separators, without blanks around it; false: there is none. */
static bool next_piece(const char **at, const char *separators, const char **ret, size_t *ret_n)
{
    while (**at && (strchr(separators, **at) || isspace((unsigned char)**at)))
        ++*at;
    size_t n = strcspn(*at, separators);
    *ret = *at;
    *at += n;
    while (n > 0 && isspace((unsigned char)(*ret)[n - 1]))
        n--;
    *ret_n = n;
    return n > 0;
}

/* One definition "NAME = HOST HOST". */
struct definition {
    const char *name, *rules;
    size_t name_n, rules_n;
};

static int cut_at_equals(const char *text, size_t n, struct definition *ret)
{
    const char *equals = memchr(text, '=', n);
    size_t name_n = equals ? (size_t)(equals - text) : 0;
    while (name_n > 0 && isspace((unsigned char)text[name_n - 1]))
        name_n--;
    if (!equals || name_n == 0)
        return -1;
    *ret = (struct definition){ .name = text,
                                .name_n = name_n,
                                .rules = equals + 1,
                                .rules_n = (size_t)(text + n - equals - 1) };
    return 0;
}

static int split_definition(const char *text, size_t n, struct definition *ret, struct err *e)
{
    if (cut_at_equals(text, n, ret) == 0 && is_name(ret->name, ret->name_n))
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "'%.*s' is not a preset: expected NAME=HOST HOST, with ; between presets",
                   (int)(n < 40 ? n : 40), text);
}

static int add_rules(struct network_policy *p, const char *rules, size_t rules_n, struct err *e)
{
    const char *at = rules, *word;
    char entry[ENTRY_MAX];
    size_t n;
    while (next_piece(&at, " ;", &word, &n) && word < rules + rules_n) {
        if (n >= sizeof entry)
            return err_set(e, ERR_BAD_REQUEST, 0, "a host of a preset is too long");
        memcpy(entry, word, n);
        entry[n] = '\0';
        if (network_policy_add(p, NETWORK_TCP, entry, e))
            return -1;
    }
    return 0;
}

int network_presets_check(const char *own, struct err *e)
{
    const char *at = own, *piece;
    size_t n;
    while (next_piece(&at, ";", &piece, &n)) {
        struct definition d;
        scoped(network_policy) p = { 0 };
        if (split_definition(piece, n, &d, e) || add_rules(&p, d.rules, d.rules_n, e))
            return -1;
        if (p.n == 0)
            return err_set(e, ERR_BAD_REQUEST, 0, "preset '%.*s' has no host", (int)d.name_n,
                           d.name);
    }
    return 0;
}

static int refuse_preset(const char *own, const char *name, struct err *e)
{
    char known[120] = "";
    struct nearest near = { .wanted = name };
    const char *at = own, *piece;
    size_t n;
    for (size_t i = 0; i < network_presets_count; i++) {
        size_t used = strlen(known);
        nearest_offer(&near, network_presets[i].name);
        (void)snprintf(known + used, sizeof known - used, "%s@%s", i ? ", " : "",
                       network_presets[i].name);
    }
    while (next_piece(&at, ";", &piece, &n)) {
        struct definition d;
        size_t used = strlen(known);
        if (split_definition(piece, n, &d, e) == 0)
            (void)snprintf(known + used, sizeof known - used, ", @%.*s", (int)d.name_n, d.name);
    }
    return err_set(e, ERR_BAD_REQUEST, 0, "there is no network preset '@%s': %s are known%s%s%s",
                   QUOTED(name), known, near.name[0] ? "; did you mean '@" : "", near.name,
                   near.name[0] ? "'?" : "");
}

static int add_preset(struct network_policy *p, const char *own, const char *name, struct err *e)
{
    const char *at = own, *piece;
    size_t n;
    while (next_piece(&at, ";", &piece, &n)) {
        struct definition d;
        if (split_definition(piece, n, &d, e))
            return -1;
        if (d.name_n == strlen(name) && memcmp(d.name, name, d.name_n) == 0)
            return add_rules(p, d.rules, d.rules_n, e);
    }
    for (size_t i = 0; i < network_presets_count; i++)
        if (strcmp(network_presets[i].name, name) == 0)
            return add_rules(p, network_presets[i].rules, strlen(network_presets[i].rules), e);
    return refuse_preset(own, name, e);
}

int network_policy_add_entry(struct network_policy *p, const char *own,
                             enum network_protocol protocol, const char *entry, struct err *e)
{
    return entry[0] == '@' ? add_preset(p, own, entry + 1, e)
                           : network_policy_add(p, protocol, entry, e);
}

int network_policy_parse(const char *text, const char *own, const struct network_caps *caps,
                         struct network_policy *ret, struct err *e)
{
    scoped(network_policy) p = { .caps = *caps };
    const char *at = text, *piece;
    char entry[ENTRY_MAX];
    size_t n;
    if (strcmp(text, "full") == 0)
        p.mode = NETWORK_FULL;
    else if (strcmp(text, "none") != 0)
        while (next_piece(&at, ", ", &piece, &n)) {
            if (n >= sizeof entry)
                return err_set(e, ERR_BAD_REQUEST, 0, "an entry of a network list is too long");
            memcpy(entry, piece, n);
            entry[n] = '\0';
            if (network_policy_add_entry(&p, own, NETWORK_TCP, entry, e))
                return -1;
        }
    *ret = p;
    p = (struct network_policy){ 0 };
    return 0;
}

/* ---- keys ---- */

static int policy_of(const struct definition *d, const char *own, const struct network_caps *caps,
                     struct network_policy *ret, struct err *e)
{
    const char *at = d->rules;
    autofree char *text = NULL;
    while (at < d->rules + d->rules_n && isspace((unsigned char)*at))
        at++;
    text = strndup(at, (size_t)(d->rules + d->rules_n - at));
    return text ? network_policy_parse(text, own, caps, ret, e)
                : err_no_memory(e, "a network list");
}

int network_keys_check(const char *text, const char *own, struct err *e)
{
    const struct network_caps caps = network_caps_default();
    const char *at = text, *piece;
    size_t n;
    while (next_piece(&at, ";", &piece, &n)) {
        struct definition d;
        scoped(network_policy) p = { 0 };
        if (cut_at_equals(piece, n, &d))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "'%.*s' is not the maximum of a key: expected KEY=HOST HOST, with ; "
                           "between keys",
                           (int)(n < 40 ? n : 40), piece);
        if (policy_of(&d, own, &caps, &p, e))
            return -1;
    }
    return 0;
}

int network_max_of_key(const char *text, const char *own, const char *key,
                       const struct network_caps *caps, struct network_policy *ret, bool *ret_found,
                       struct err *e)
{
    const char *at = text, *piece;
    size_t n;
    *ret_found = false;
    while (next_piece(&at, ";", &piece, &n)) {
        struct definition d;
        if (cut_at_equals(piece, n, &d) || d.name_n != strlen(key) ||
            memcmp(d.name, key, d.name_n) != 0)
            continue;
        if (policy_of(&d, own, caps, ret, e))
            return -1;
        *ret_found = true;
        return 0;
    }
    return 0;
}
