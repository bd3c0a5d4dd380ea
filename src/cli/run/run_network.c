#include "cli/run/run_network.h"

#include <string.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "network/address_set.h"
#include "network/preset.h"

/* Without a service the caller is the operator, and packages may be large. */
#define LOCAL_BYTES (1ULL << 30)

static const char *const words[] = { "none", "full", NULL };

const char *run_network_word_at(const void *def, size_t i)
{
    (void)def;
    return words[i];
}

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

int run_network_set_mode(void *arguments, const struct arg_row *row, const char *value,
                         struct err *e)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0) {
            ((struct run_arguments *)arguments)->network_word = words[i];
            return 0;
        }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--%s '%s' is not known: none and full are accepted; single hosts are given "
                   "with --allow-net",
                   row->name, QUOTED(value));
}

bool run_network_wanted(const struct run_arguments *o)
{
    return o->allow_net || (o->network_word && strcmp(o->network_word, "full") == 0);
}

int run_network_check(const struct run_arguments *o, struct err *e)
{
    if (o->allow_net && o->network_word)
        return err_set(e, ERR_USAGE, 0,
                       "--allow-net and --network %s exclude each other: give one of them",
                       o->network_word);
    if (o->allow_private && !run_network_wanted(o))
        return err_set(e, ERR_USAGE, 0,
                       "--allow-private opens addresses of hosts that --allow-net names: give "
                       "--allow-net, too");
    return 0;
}

int run_network_take(struct run_arguments *o, struct err *e)
{
    struct network_policy *p = &o->network;
    p->caps = network_caps_default();
    p->caps.v[NETWORK_CAP_BYTES_IN] = p->caps.v[NETWORK_CAP_BYTES_OUT] = LOCAL_BYTES;
    if (o->network_word && strcmp(o->network_word, "full") == 0)
        p->mode = NETWORK_FULL;
    for (char *const *host = o->allow_net; host && *host; host++)
        if (network_policy_add_entry(p, "", NETWORK_TCP, *host, e))
            return err_wrap(e, "--allow-net");
    struct buf *ranges = &o->network_private;
    for (char *const *range = o->allow_private; range && *range; range++)
        if (buf_addf(ranges, e, "%s%s", ranges->len ? "," : "", *range))
            return -1;
    return 0;
}
