#include "api/runs/network_request.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "network/address.h"
#include "network/preset.h"
#include "run/json.h"

const char *const network_words[] = { "none", "full", NULL };

const struct api_field inject_fields[] = {
    { "host", FIELD_STRING, .required = true,
      .help = "a name of the list, at port 443 or another: \"api.example.org\"" },
    { "header", FIELD_STRING, .required = true, .help = "the header, such as Authorization" },
    { "secret", FIELD_STRING, .required = true,
      .help = "name of a secret that the operator granted to this host" },
    { "prefix", FIELD_STRING, .help = "text before the secret, such as \"Bearer \"" },
    { .schema = "NetworkSecret", .help = "a header that is added outside the jar" },
};

const struct api_field network_fields[] = {
    { "allow", FIELD_STRINGS, .max = NETWORK_RULES_MAX,
      .help = "hosts: \"pypi.org\" (ports 443 and 80), \"db.example.org:5432\", "
              "\"db.example.org:*\" (every port), "
              "\"*.example.org:443\", \"203.0.113.7:8080\", or a preset such as \"@pypi\"",
      .also = "hosts,domains,allowed_hosts,allowed_domains,allowlist" },
    { "udp", FIELD_STRINGS, .max = NETWORK_RULES_MAX,
      .help = "hosts and ports for UDP, such as \"ntp.example.org:123\"; none by default" },
    { "inject", FIELD_OBJECTS, .max = NETWORK_INJECTS_MAX, .fields = inject_fields,
      .help = "headers with secrets that are added outside the jar, so that the program never has "
              "them" },
    { .schema = "NetworkList",
      .help = "the hosts that a run may reach; an empty list means no network" },
};

static int add_list(const struct settings *s, const json_t *object, const char *key,
                    enum network_protocol protocol, struct network_policy *p, char *field,
                    size_t field_size, struct err *e)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(object, key), i, entry) {
        const char *text = json_string_value(entry);
        (void)snprintf(field, field_size, "network.%s[%zu]", key, i);
        if (protocol == NETWORK_UDP && text[0] == '@')
            return err_set(e, ERR_BAD_REQUEST, 0, "presets such as '%s' are for \"allow\"",
                           QUOTED(text));
        if (network_policy_add_entry(p, s->network_presets, protocol, text, e))
            return -1;
    }
    return 0;
}

static int add_lists(const struct settings *s, const json_t *object, struct network_policy *p,
                     char *field, size_t field_size, struct err *e)
{
    return add_list(s, object, "allow", NETWORK_TCP, p, field, field_size, e) ||
                   add_list(s, object, "udp", NETWORK_UDP, p, field, field_size, e)
               ? -1
               : 0;
}

/* Every secret is one that the operator granted to this host, this header and this key. */
static int add_injects(const struct settings *s, const char *key, const json_t *object,
                       struct network_policy *p, char *field, size_t field_size, struct err *e)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(object, "inject"), i, entry) {
        struct network_inject x;
        (void)snprintf(field, field_size, "network.inject[%zu]", i);
        if (network_inject_make(json_string_value(json_object_get(entry, "host")),
                                json_string_value(json_object_get(entry, "header")),
                                json_string_value(json_object_get(entry, "secret")),
                                json_string_value(json_object_get(entry, "prefix")), &x, e) ||
            network_policy_add_inject(p, &x, e) ||
            network_secret_granted(s->network_secrets, &x, key, e))
            return -1;
    }
    return 0;
}

/* The person who asks for an address that no run reaches learns it now, not by a refused connection. */
static int check_addresses(const struct settings *s, const struct network_policy *p, struct err *e)
{
    scoped(address_set) ranges = { 0 };
    if (address_set_parse(s->network_private, &ranges, e))
        return -1;
    const struct address_rules rules = { .private_ranges = ranges };
    for (size_t i = 0; i < p->n; i++) {
        const struct network_rule *rule = &p->rules[i];
        char text[NETWORK_RULE_TEXT];
        if (rule->host == NETWORK_HOST_ADDRESS &&
            address_judge_bytes(&rules, rule->address, rule->port) != ADDRESS_OPEN)
            return err_set(e, ERR_DENIED, 0,
                           "'%s' is %s, which no run reaches: the operator can open it with the "
                           "setting network.private",
                           network_rule_text(rule, text), address_kind(rule->address));
    }
    return 0;
}

static int refuse_wider(const struct network_policy *most, const struct network_rule *outside,
                        const char *setting, struct err *e)
{
    char text[NETWORK_RULE_TEXT], listed[96];
    return err_set(e, ERR_DENIED, 0, "'%s' is not within the maximum of this service (%s): %s",
                   outside ? network_rule_text(outside, text) : "full", setting,
                   network_policy_text(most, listed, sizeof listed));
}

static int check_max(const struct settings *s, const struct network_policy *p, struct err *e)
{
    scoped(network_policy) most = { 0 };
    const struct network_rule *outside;
    if (settings_network_max(s, &most, e))
        return -1;
    if (network_policy_is_within(p, &most, &outside))
        return 0;
    if (most.mode == NETWORK_NONE)
        return err_set(e, ERR_DENIED, 0,
                       "this service gives no run a network: its operator can allow hosts with the "
                       "setting network.max, such as network.max=@pypi");
    return refuse_wider(&most, outside, "network.max", e);
}

static int check_max_of_key(const struct settings *s, const char *key,
                            const struct network_policy *p, struct err *e)
{
    scoped(network_policy) most = { 0 };
    const struct network_rule *outside;
    bool found = false;
    if (key && network_max_of_key(s->network_keys, s->network_presets, key, &s->network_caps, &most,
                                  &found, e))
        return -1;
    return !found || network_policy_is_within(p, &most, &outside)
               ? 0
               : refuse_wider(&most, outside, "network.keys", e);
}

int network_from_json(const struct api *api, const char *key, const json_t *value,
                      struct network_policy *ret, char *ret_field, size_t field_size, struct err *e)
{
    const struct settings *s = api->settings;
    scoped(network_policy) p = { .caps = s->network_caps };
    if (json_is_string(value) && strcmp(json_string_value(value), "full") == 0)
        p.mode = NETWORK_FULL;
    if (json_is_object(value) && (add_lists(s, value, &p, ret_field, field_size, e) ||
                                  add_injects(s, key, value, &p, ret_field, field_size, e)))
        return -1;
    (void)snprintf(ret_field, field_size, "network");
    if (p.mode != NETWORK_NONE && (check_addresses(s, &p, e) || check_max(s, &p, e) ||
                                   check_max_of_key(s, key, &p, e) || network_possible(api, &p, e)))
        return -1;
    ret_field[0] = '\0';
    *ret = p;
    p = (struct network_policy){ 0 };
    return 0;
}

static json_t *injects_to_json(const struct network_policy *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->n_injects; i++) {
        const struct network_inject *x = &p->injects[i];
        char host[NETWORK_NAME_MAX + 8];
        (void)snprintf(host, sizeof host, "%s:%u", x->host, x->port);
        json_t *o = json_pack("{s:s, s:s, s:s}", "host", host, "header", x->header, "secret",
                              x->secret);
        if (x->prefix[0])
            json_put(o, "prefix", json_string(x->prefix));
        (void)json_array_append_new(all, o);
    }
    return all;
}

json_t *network_to_json(const struct network_policy *p)
{
    if (p->mode != NETWORK_LIST)
        return json_string(p->mode == NETWORK_FULL ? "full" : "none");
    json_t *o = json_object(), *allow = json_array(), *udp = json_array();
    for (size_t i = 0; i < p->n; i++) {
        char text[NETWORK_RULE_TEXT];
        bool is_udp = p->rules[i].protocol == NETWORK_UDP;
        const char *shown = network_rule_text(&p->rules[i], text);
        (void)json_array_append_new(is_udp ? udp : allow,
                                    json_string(is_udp ? shown + strlen("udp:") : shown));
    }
    json_put(o, "allow", allow);
    if (json_array_size(udp) > 0)
        json_put(o, "udp", json_incref(udp));
    json_decref(udp);
    if (p->n_injects > 0)
        json_put(o, "inject", injects_to_json(p));
    return o;
}

int network_possible(const struct api *api, const struct network_policy *p, struct err *e)
{
    if (!api->engine) /* in a thread: run_spec_check_here() asks again, on the loop */
        return 0;
    return engine_network_possible(api->engine, p, e);
}
