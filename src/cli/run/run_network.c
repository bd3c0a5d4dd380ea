#include "cli/run/run_network.h"

#include <string.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "network/address.h"
#include "network/preset.h"

/* Without a service the caller is the operator, and packages may be large. */
#define LOCAL_BYTES (1ULL << 30)

/* A service may have presets of its own, so their names are looked up later. */
int run_network_add_host(void *arguments, const struct arg_row *row, const char *value,
                         struct err *e)
{
    struct run_arguments *o = arguments;
    scoped(network_policy) p = { 0 };
    if (value[0] != '@' && network_policy_add(&p, NETWORK_TCP, value, e))
        return err_wrap(e, "--%s", row->name);
    return strv_add(&o->allow_net, value, e);
}

int run_network_add_range(void *arguments, const struct arg_row *row, const char *value,
                          struct err *e)
{
    scoped(address_set) ranges = { 0 };
    if (address_set_parse(value, &ranges, e))
        return err_wrap(e, "--%s", row->name);
    return strv_add(&((struct run_arguments *)arguments)->allow_private, value, e);
}

const char *run_network_mode_at(const void *def, size_t i)
{
    static const char *const modes[] = { "none", "full" };
    (void)def;
    return i < sizeof modes / sizeof *modes ? modes[i] : NULL;
}

int run_network_set_mode(void *arguments, const struct arg_row *row, const char *value,
                         struct err *e)
{
    struct run_arguments *o = arguments;
    o->full_network = strcmp(value, "full") == 0;
    return o->full_network || strcmp(value, "none") == 0
               ? 0
               : err_set(e, ERR_USAGE, 0,
                         "--%s: '%s' is neither none nor full; --allow-net takes hosts and presets",
                         row->name, QUOTED(value));
}

int run_network_add_inject(void *arguments, const struct arg_row *row, const char *value,
                           struct err *e)
{
    struct network_inject x;
    if (network_inject_parse(value, &x, e))
        return err_wrap(e, "--%s", row->name);
    return strv_add(&((struct run_arguments *)arguments)->inject, value, e);
}

bool run_network_wanted(const struct run_arguments *o)
{
    return o->allow_net != NULL || o->full_network;
}

int run_network_check(const struct run_arguments *o, struct err *e)
{
    if (o->full_network && o->allow_net)
        return err_set(e, ERR_USAGE, 0,
                       "--network full opens every host: leave --allow-net out, or --network");
    if (o->allow_private && !run_network_wanted(o))
        return err_set(e, ERR_USAGE, 0,
                       "--allow-private opens addresses of hosts that --allow-net names: give "
                       "--allow-net or --network full, too");
    if (o->inject && !o->allow_net)
        return err_set(e, ERR_USAGE, 0,
                       "--inject adds a header to requests to hosts that --allow-net names: give "
                       "--allow-net, too");
    return 0;
}

/* The caller grants each secret to the host that the option names. */
static int take_injects(struct run_arguments *o, struct err *e)
{
    for (char *const *text = o->inject; text && *text; text++) {
        struct network_inject x;
        if (network_inject_parse(*text, &x, e) || network_policy_add_inject(&o->network, &x, e))
            return err_wrap(e, "--inject");
        if (buf_addf(&o->network_grants, e, "%s=%s:%u header:%s;", x.secret, x.host, x.port,
                     x.header))
            return -1;
    }
    return 0;
}

/* An address that no run reaches is an error now, and not a refused connection later. */
static int check_addresses(const struct run_arguments *o, struct err *e)
{
    scoped(address_set) ranges = { 0 };
    if (address_set_parse(buf_str(&o->network_private), &ranges, e))
        return -1;
    const struct address_rules rules = { .private_ranges = ranges };
    for (size_t i = 0; i < o->network.n; i++) {
        const struct network_rule *rule = &o->network.rules[i];
        char text[NETWORK_RULE_TEXT], address[ADDRESS_TEXT_SIZE];
        if (rule->host == NETWORK_HOST_ADDRESS &&
            address_judge_bytes(&rules, rule->address, rule->port) != ADDRESS_OPEN)
            return err_set(e, ERR_DENIED, 0,
                           "--allow-net '%s' is %s, which no run reaches: add --allow-private %s",
                           network_rule_text(rule, text), address_kind(rule->address),
                           address_text(rule->address, address, sizeof address));
    }
    return 0;
}

int run_network_take(struct run_arguments *o, struct err *e)
{
    struct network_policy *p = &o->network;
    p->caps = network_caps_default();
    p->caps.v[NETWORK_CAP_BYTES_IN] = p->caps.v[NETWORK_CAP_BYTES_OUT] = LOCAL_BYTES;
    if (o->full_network)
        p->mode = NETWORK_FULL;
    for (char *const *host = o->allow_net; host && *host; host++)
        if (network_policy_add_entry(p, "", NETWORK_TCP, *host, e))
            return err_wrap(e, "--allow-net");
    if (take_injects(o, e))
        return -1;
    struct buf *ranges = &o->network_private;
    for (char *const *range = o->allow_private; range && *range; range++)
        if (buf_addf(ranges, e, "%s%s", ranges->len ? "," : "", *range))
            return -1;
    return check_addresses(o, e);
}
