#include "network/policy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

void network_policy_done(struct network_policy *p)
{
    free(p->rules);
    free(p->injects);
    *p = (struct network_policy){ 0 };
}

int network_policy_copy(const struct network_policy *p, struct network_policy *ret, struct err *e)
{
    struct network_policy copy = *p;
    copy.rules = NULL;
    copy.injects = NULL;
    if (p->n > 0)
        copy.rules = calloc(p->n, sizeof *copy.rules);
    if (p->n_injects > 0)
        copy.injects = calloc(p->n_injects, sizeof *copy.injects);
    if ((p->n > 0 && !copy.rules) || (p->n_injects > 0 && !copy.injects)) {
        network_policy_done(&copy);
        return err_no_memory(e, "a network list");
    }
    if (p->n > 0)
        memcpy(copy.rules, p->rules, p->n * sizeof *copy.rules);
    if (p->n_injects > 0)
        memcpy(copy.injects, p->injects, p->n_injects * sizeof *copy.injects);
    *ret = copy;
    return 0;
}

/* ---- secrets ---- */

static int check_inject(const struct network_policy *p, const struct network_inject *x,
                        struct err *e)
{
    if (network_policy_match_name(p, x->host, NETWORK_TCP, x->port) < 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s:%u' gets a secret, and is not in the network list: add it to the list",
                       x->host, x->port);
    if (p->n_injects >= NETWORK_INJECTS_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0, "a run has up to %d headers with secrets",
                       NETWORK_INJECTS_MAX);
    for (size_t i = 0; i < p->n_injects; i++)
        if (p->injects[i].port == x->port && strcmp(p->injects[i].host, x->host) == 0 &&
            strcasecmp(p->injects[i].header, x->header) == 0)
            return err_set(e, ERR_BAD_REQUEST, 0, "'%s:%u' gets the header %s twice", x->host,
                           x->port, x->header);
    return 0;
}

int network_policy_add_inject(struct network_policy *p, const struct network_inject *inject,
                              struct err *e)
{
    if (check_inject(p, inject, e))
        return -1;
    struct network_inject *grown = realloc(p->injects, (p->n_injects + 1) * sizeof *grown);
    if (!grown)
        return err_no_memory(e, "a network list");
    grown[p->n_injects++] = *inject;
    p->injects = grown;
    return 0;
}

bool network_policy_injects(const struct network_policy *p, const char *name, uint16_t port)
{
    for (size_t i = 0; i < p->n_injects; i++)
        if (p->injects[i].port == port && strcmp(p->injects[i].host, name) == 0)
            return true;
    return false;
}

bool network_policy_has_injects(const struct network_policy *outer,
                                const struct network_policy *inner)
{
    char wanted[NETWORK_INJECT_TEXT], text[NETWORK_INJECT_TEXT];
    for (size_t i = 0; i < inner->n_injects; i++) {
        bool found = false;
        network_inject_text(&inner->injects[i], wanted);
        for (size_t k = 0; k < outer->n_injects && !found; k++)
            found = strcmp(network_inject_text(&outer->injects[k], text), wanted) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* ---- text to rules ---- */

static int refuse(const char *text, const char *why, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "'%s' cannot be in a network list: %s", QUOTED(text),
                   why);
}

/* An entry in parts. */
struct entry {
    const char *text; /* all of it, for messages */
    enum network_protocol protocol;
    bool bracketed; /* the host was in [] */
    bool has_port;
    uint16_t port;
    char host[4 * NETWORK_NAME_MAX + 2];
};

static int parse_port(struct entry *entry, const char *text, struct err *e)
{
    size_t n = strlen(text);
    unsigned value = 0;
    entry->has_port = true;
    entry->port = NETWORK_EVERY_PORT;
    if (strcmp(text, "*") == 0)
        return 0;
    for (size_t i = 0; i < n && n <= 5; i++)
        value = text[i] >= '0' && text[i] <= '9' ? value * 10 + (unsigned)(text[i] - '0')
                                                 : 1U << 20;
    if (n == 0 || n > 5 || text[0] == '0' || value > UINT16_MAX)
        return refuse(entry->text, "its port is not a number from 1 to 65535", e);
    entry->port = (uint16_t)value;
    return 0;
}

static int take_host(struct entry *entry, const char *host, size_t n, struct err *e)
{
    if (n == 0)
        return refuse(entry->text, "it has no host; such as " NETWORK_RULE_ACCEPTED, e);
    if (n >= sizeof entry->host)
        return refuse(entry->text, "its host is longer than 253 bytes", e);
    memcpy(entry->host, host, n);
    entry->host[n] = '\0';
    return 0;
}

/* Splits "[HOST]:PORT", "HOST:PORT" or "HOST". More than one colon is an IPv6 address. */
static int split(struct entry *entry, const char *text, struct err *e)
{
    const char *colon = strchr(text, ':'), *close = strchr(text, ']');
    if (strstr(text, "://") || strchr(text, '/'))
        return refuse(entry->text,
                      "it is a URL or a range of addresses; give a host and a port, such as "
                      "pypi.org:443",
                      e);
    if (text[0] == '[') {
        if (!close || (close[1] != '\0' && close[1] != ':'))
            return refuse(entry->text, "the bracket of its address is not closed", e);
        entry->bracketed = true;
        if (take_host(entry, text + 1, (size_t)(close - text - 1), e))
            return -1;
        return close[1] ? parse_port(entry, close + 2, e) : 0;
    }
    if (!colon || strchr(colon + 1, ':'))
        return take_host(entry, text, strlen(text), e);
    return take_host(entry, text, (size_t)(colon - text), e) || parse_port(entry, colon + 1, e) ? -1
                                                                                                : 0;
}

static int parse_address6(const struct entry *entry, struct network_rule *rule, struct err *e)
{
    if (inet_pton(AF_INET6, entry->host, rule->address) != 1)
        return refuse(entry->text, "its host is not an IPv6 address; such as [2001:db8::7]:443", e);
    if (memcmp(rule->address, mapped, sizeof mapped) == 0)
        return refuse(entry->text, "it is an IPv4 address in disguise; write 203.0.113.7", e);
    rule->host = NETWORK_HOST_ADDRESS;
    return 0;
}

static int parse_wildcard(const struct entry *entry, struct network_rule *rule, struct err *e)
{
    if (strcmp(entry->host, "*") == 0)
        return refuse(entry->text, "it is every host; name the hosts", e);
    if (entry->host[1] != '.' || strchr(entry->host + 1, '*'))
        return refuse(entry->text, "a * stands for whole names in front, such as *.example.org", e);
    if (network_name_parse(entry->host + 2, rule->name, e))
        return -1;
    if (network_name_labels(rule->name) < 2)
        return refuse(entry->text, "it is a whole top-level domain; such as *.example.org", e);
    if (strlen(rule->name) > NETWORK_NAME_MAX - 2)
        return refuse(entry->text, "no name can be beneath it", e);
    rule->host = NETWORK_HOST_SUBDOMAINS;
    return 0;
}

static int parse_host(const struct entry *entry, struct network_rule *rule, struct err *e)
{
    if (entry->bracketed || strchr(entry->host, ':'))
        return parse_address6(entry, rule, e);
    memcpy(rule->address, mapped, sizeof mapped);
    if (inet_pton(AF_INET, entry->host, rule->address + sizeof mapped) == 1) {
        rule->host = NETWORK_HOST_ADDRESS;
        return 0;
    }
    memset(rule->address, 0, sizeof rule->address);
    if (strchr(entry->host, '*'))
        return parse_wildcard(entry, rule, e);
    rule->host = NETWORK_HOST_NAME;
    return network_name_parse(entry->host, rule->name, e);
}

static bool same_host(const struct network_rule *a, const struct network_rule *b)
{
    return a->host == b->host && memcmp(a->address, b->address, sizeof a->address) == 0 &&
           strcmp(a->name, b->name) == 0;
}

bool network_rule_is_unspecified(const struct network_rule *rule)
{
    static const uint8_t none[16] = { 0 };
    size_t from = memcmp(rule->address, mapped, sizeof mapped) == 0 ? sizeof mapped : 0;
    return rule->host == NETWORK_HOST_ADDRESS &&
           memcmp(rule->address + from, none, sizeof none - from) == 0;
}

bool network_rule_port_is_sane(const struct network_rule *rule)
{
    return rule->port != NETWORK_EVERY_PORT ||
           (rule->protocol == NETWORK_TCP && rule->host != NETWORK_HOST_SUBDOMAINS);
}

int network_policy_add_rule(struct network_policy *p, const struct network_rule *rule,
                            struct err *e)
{
    char text[NETWORK_RULE_TEXT];
    if (network_rule_is_unspecified(rule))
        return refuse(network_rule_text(rule, text),
                      "it is the unspecified address, which is no host; name the host", e);
    if (p->mode == NETWORK_FULL)
        return 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->rules[i].protocol == rule->protocol && p->rules[i].port == rule->port &&
            same_host(&p->rules[i], rule))
            return 0;
    if (p->n == NETWORK_RULES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the network list has more than %d hosts and ports: a wildcard such as "
                       "*.example.org stands for many names",
                       NETWORK_RULES_MAX);
    struct network_rule *grown = reallocarray(p->rules, p->n + 1, sizeof *grown);
    if (!grown)
        return err_no_memory(e, "a network list");
    p->rules = grown;
    p->rules[p->n++] = *rule;
    p->mode = NETWORK_LIST;
    return 0;
}

int network_policy_add(struct network_policy *p, enum network_protocol protocol, const char *text,
                       struct err *e)
{
    static const uint16_t web[] = { 443, 80 };
    struct entry entry = { .text = text, .protocol = protocol };
    struct network_rule rule = { 0 };
    bool udp = strncmp(text, "udp:", 4) == 0;
    if (udp)
        entry.protocol = NETWORK_UDP;
    if (split(&entry, text + (udp ? 4 : 0), e) || parse_host(&entry, &rule, e))
        return -1;
    if (entry.protocol == NETWORK_UDP && !entry.has_port)
        return refuse(text, "a rule for UDP needs a port, such as udp:ntp.example.org:123", e);
    rule.protocol = entry.protocol;
    rule.port = entry.port;
    if (entry.has_port && !network_rule_port_is_sane(&rule))
        return refuse(text,
                      "a wildcard and a rule for UDP name each port, such as *.example.org:8443 "
                      "(example.org:* opens every TCP port of one host)",
                      e);
    if (entry.has_port)
        return network_policy_add_rule(p, &rule, e);
    for (size_t i = 0; i < ARRAY_LEN(web); i++) {
        rule.port = web[i];
        if (network_policy_add_rule(p, &rule, e))
            return -1;
    }
    return 0;
}

/* ---- rules to text ---- */

const char *network_rule_text(const struct network_rule *rule, char out[NETWORK_RULE_TEXT])
{
    const char *prefix = rule->protocol == NETWORK_UDP ? "udp:" : "";
    char address[INET6_ADDRSTRLEN] = "", port[8] = "*";
    bool v4 = memcmp(rule->address, mapped, sizeof mapped) == 0;
    if (rule->port != NETWORK_EVERY_PORT)
        (void)snprintf(port, sizeof port, "%u", rule->port);
    if (rule->host != NETWORK_HOST_ADDRESS)
        (void)snprintf(out, NETWORK_RULE_TEXT, "%s%s%s:%s", prefix,
                       rule->host == NETWORK_HOST_SUBDOMAINS ? "*." : "", rule->name, port);
    else if (v4 && inet_ntop(AF_INET, rule->address + sizeof mapped, address, sizeof address))
        (void)snprintf(out, NETWORK_RULE_TEXT, "%s%s:%s", prefix, address, port);
    else if (inet_ntop(AF_INET6, rule->address, address, sizeof address))
        (void)snprintf(out, NETWORK_RULE_TEXT, "%s[%s]:%s", prefix, address, port);
    return out;
}

const char *network_policy_text(const struct network_policy *p, char *out, size_t size)
{
    size_t used = 0;
    (void)snprintf(out, size, "%s",
                   p->mode == NETWORK_NONE   ? "none"
                   : p->mode == NETWORK_FULL ? "full"
                                             : "");
    for (size_t i = 0; i < p->n; i++) {
        char rule[NETWORK_RULE_TEXT], more[32];
        size_t left = size - used;
        (void)snprintf(more, sizeof more, ", ... (%zu in all)", p->n);
        network_rule_text(&p->rules[i], rule);
        bool fits = strlen(rule) + 2 + (i + 1 < p->n ? strlen(more) : 0) < left;
        (void)snprintf(out + used, left, "%s%s",
                       fits ? (i ? ", " : "")
                       : i  ? more
                            : more + 2,
                       fits ? rule : "");
        if (!fits)
            break;
        used += strlen(out + used);
    }
    return out;
}

bool network_rule_is_broad(const struct network_rule *rule)
{
    /* Names beneath these belong to anybody who asks for one. */
    static const char *const suffixes[] = {
        "amazonaws.com",   "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net",
        "firebaseapp.com", "fly.dev",     "github.io",         "gitlab.io",    "herokuapp.com",
        "netlify.app",     "ngrok.io",    "onrender.com",      "pages.dev",    "s3.amazonaws.com",
        "vercel.app",      "web.app",     "windows.net",       "workers.dev",
    };
    static const char *const second[] = { "ac", "co", "com", "edu", "gov", "ltd",
                                          "me", "ne", "net", "or",  "org", "plc" };
    if (rule->host != NETWORK_HOST_SUBDOMAINS)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (strcmp(rule->name, suffixes[i]) == 0)
            return true;
    const char *dot = strchr(rule->name, '.');
    if (!dot || strlen(dot + 1) != 2)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(second); i++)
        if (strlen(second[i]) == (size_t)(dot - rule->name) &&
            strncmp(rule->name, second[i], strlen(second[i])) == 0)
            return true;
    return false;
}

/* ---- questions ---- */

static bool opens_port(const struct network_rule *rule, enum network_protocol protocol,
                       uint16_t port)
{
    return rule->protocol == protocol && (rule->port == port || rule->port == NETWORK_EVERY_PORT);
}

/* A name without the dot at its end; NULL: no name of a host is so long. */
static const char *bare(const char *name, char out[NETWORK_NAME_MAX + 1])
{
    size_t n = strlen(name);
    if (n > 0 && name[n - 1] == '.')
        n--;
    if (n == 0 || n > NETWORK_NAME_MAX)
        return NULL;
    memcpy(out, name, n);
    out[n] = '\0';
    return out;
}

static bool covers_name(const struct network_rule *rule, const char *name)
{
    switch (rule->host) {
    case NETWORK_HOST_NAME:
        return strcasecmp(rule->name, name) == 0;
    case NETWORK_HOST_SUBDOMAINS:
        return network_name_is_beneath(name, rule->name);
    default:
        return false;
    }
}

bool network_policy_knows_name(const struct network_policy *p, const char *name)
{
    char plain[NETWORK_NAME_MAX + 1];
    if (!bare(name, plain))
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (covers_name(&p->rules[i], plain))
            return true;
    return p->mode == NETWORK_FULL;
}

long network_policy_match_name(const struct network_policy *p, const char *name,
                               enum network_protocol protocol, uint16_t port)
{
    char plain[NETWORK_NAME_MAX + 1];
    if (!bare(name, plain))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        if (opens_port(&p->rules[i], protocol, port) && covers_name(&p->rules[i], plain))
            return (long)i;
    return p->mode == NETWORK_FULL ? 0 : -1;
}

long network_policy_match_address(const struct network_policy *p, const uint8_t address[16],
                                  enum network_protocol protocol, uint16_t port)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct network_rule *rule = &p->rules[i];
        if (rule->host == NETWORK_HOST_ADDRESS && opens_port(rule, protocol, port) &&
            memcmp(rule->address, address, 16) == 0)
            return (long)i;
    }
    return p->mode == NETWORK_FULL ? 0 : -1;
}

static bool covers(const struct network_rule *outer, const struct network_rule *inner)
{
    if (!opens_port(outer, inner->protocol, inner->port))
        return false;
    if (same_host(outer, inner))
        return true;
    return outer->host == NETWORK_HOST_SUBDOMAINS && inner->host != NETWORK_HOST_ADDRESS &&
           network_name_is_beneath(inner->name, outer->name);
}

static bool is_covered(const struct network_policy *outer, const struct network_rule *inner)
{
    for (size_t i = 0; i < outer->n; i++)
        if (covers(&outer->rules[i], inner))
            return true;
    return false;
}

bool network_policy_is_within(const struct network_policy *inner,
                              const struct network_policy *outer,
                              const struct network_rule **ret_outside)
{
    if (ret_outside)
        *ret_outside = NULL;
    if (inner->mode == NETWORK_NONE)
        return true;
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        if (inner->caps.v[i] > outer->caps.v[i])
            return false;
    if (outer->mode == NETWORK_FULL)
        return true;
    if (inner->mode == NETWORK_FULL)
        return false;
    for (size_t i = 0; i < inner->n; i++)
        if (!is_covered(outer, &inner->rules[i])) {
            if (ret_outside)
                *ret_outside = &inner->rules[i];
            return false;
        }
    return true;
}

bool network_policy_splits_host(const struct network_policy *inner,
                                const struct network_policy *outer)
{
    for (size_t i = 0; i < outer->n; i++) {
        const struct network_rule *every = &outer->rules[i];
        if (every->port != NETWORK_EVERY_PORT || is_covered(inner, every))
            continue;
        for (size_t k = 0; k < inner->n; k++)
            if (inner->rules[k].protocol == NETWORK_TCP && same_host(&inner->rules[k], every))
                return true;
    }
    return false;
}
