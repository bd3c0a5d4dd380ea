#include "porter/plan.h"

#include <string.h>

enum { DNS_PORT = 53 };

bool plan_rule_begins_name(const struct network_policy *p, size_t i)
{
    if (p->rules[i].host != NETWORK_HOST_NAME)
        return false;
    for (size_t k = 0; k < i; k++)
        if (p->rules[k].host == NETWORK_HOST_NAME &&
            strcmp(p->rules[k].name, p->rules[i].name) == 0)
            return false;
    return true;
}

uint32_t plan_address(const char *name, unsigned attempt)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) + attempt; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return PLAN_FIRST_ADDRESS + (uint32_t)((hash ^ hash >> 32) % PLAN_ADDRESSES);
}

static bool is_taken(const uint32_t *addresses, size_t n, uint32_t address)
{
    for (size_t i = 0; i < n; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

int plan_addresses(const struct network_policy *p, uint32_t ret[NETWORK_RULES_MAX], struct err *e)
{
    for (size_t i = 0; i < p->n && i < NETWORK_RULES_MAX; i++) {
        const struct network_rule *r = &p->rules[i];
        size_t first = 0;
        ret[i] = 0;
        if (r->host != NETWORK_HOST_NAME)
            continue;
        while (first < i && (p->rules[first].host != NETWORK_HOST_NAME ||
                             strcmp(p->rules[first].name, r->name) != 0))
            first++;
        unsigned attempt = 0;
        uint32_t address = first < i ? ret[first] : plan_address(r->name, 0);
        while (first == i && is_taken(ret, i, address)) {
            if (++attempt == PLAN_ATTEMPTS)
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "'%s' cannot be in this list: other names of it have its addresses "
                               "in the jar",
                               r->name);
            address = plan_address(r->name, attempt);
        }
        ret[i] = address;
    }
    return 0;
}

/* A socket for every address has the connections to all names. An address of the list has its own socket,
 * because the route of that address goes with it. */
static bool is_covered(const struct plumbing *p, const struct plumbing_listener *l)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct plumbing_listener *other = &p->at[i];
        bool everywhere = plumbing_is_ipv4(other->address) && plumbing_ipv4(other->address) == 0;
        bool same = memcmp(other->address, l->address, 16) == 0;
        if (other->protocol == l->protocol && same && other->port == PLUMBING_EVERY_PORT)
            return true;
        if (other->port == l->port && other->protocol == l->protocol &&
            (same || (everywhere && plumbing_is_ipv4(l->address) &&
                      plumbing_is_synthetic(plumbing_ipv4(l->address)))))
            return true;
    }
    return false;
}

static void add(struct plumbing *p, const struct network_rule *r, const uint8_t address[16])
{
    struct plumbing_listener l = { .port = r->port,
                                   .protocol = r->protocol == NETWORK_UDP ? PLUMBING_UDP
                                                                          : PLUMBING_TCP };
    memcpy(l.address, address, sizeof l.address);
    if (!is_covered(p, &l) && p->n < PLUMBING_LISTENERS_MAX)
        p->at[p->n++] = l;
}

/* Every connection of the guest comes to one of two sockets. */
static void plan_everything(struct plumbing *p)
{
    static const uint8_t everywhere6[16] = NFT_CATCH_ADDRESS6;
    p->n = 2;
    p->at[0] = p->at[1] = (struct plumbing_listener){ .port = NFT_CATCH_PORT,
                                                      .protocol = PLUMBING_TCP };
    plumbing_set_ipv4(p->at[0].address, 0);
    memcpy(p->at[1].address, everywhere6, sizeof everywhere6);
}

/* The hosts with every port, or the others. */
static void add_hosts(struct plumbing *ret, const struct network_policy *p,
                      const uint32_t of_name[NETWORK_RULES_MAX], bool every_port)
{
    uint8_t address[16];
    for (size_t i = 0; i < p->n; i++) {
        const struct network_rule *r = &p->rules[i];
        if (r->host == NETWORK_HOST_SUBDOMAINS || (r->port == NETWORK_EVERY_PORT) != every_port)
            continue;
        if (r->host == NETWORK_HOST_NAME)
            plumbing_set_ipv4(address, of_name[i]);
        else
            memcpy(address, r->address, sizeof address);
        add(ret, r, address);
    }
}

static int check_every_port(const struct plumbing *p, struct err *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        n += p->at[i].port == PLUMBING_EVERY_PORT;
    return n > PLUMBING_EVERY_PORT_MAX
               ? err_set(e, ERR_BAD_REQUEST, 0,
                         "the network list has %u hosts with every port (HOST:*), and %d are "
                         "possible: name the ports of some of them",
                         n, PLUMBING_EVERY_PORT_MAX)
               : 0;
}

int plan_make(const struct network_policy *p, struct plumbing *ret, struct err *e)
{
    _Static_assert((int)NETWORK_RULES_MAX <= (int)PLUMBING_LISTENERS_MAX,
                   "each rule has its listener");
    _Static_assert((int)NETWORK_EVERY_PORT == (int)PLUMBING_EVERY_PORT, "one is the other");
    uint8_t address[16];
    uint32_t of_name[NETWORK_RULES_MAX] = { 0 };
    ret->n = 0;
    ret->trusts = p->n_injects > 0;
    ret->full = p->mode == NETWORK_FULL;
    if (ret->full) {
        plan_everything(ret);
        return 0;
    }
    if (plan_addresses(p, of_name, e))
        return -1;
    plumbing_set_ipv4(address, 0);
    for (size_t i = 0; i < p->n; i++) { /* first: they cover others */
        if (p->rules[i].host != NETWORK_HOST_SUBDOMAINS)
            continue;
        if (p->rules[i].port == DNS_PORT)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "port 53 of *.%s cannot be opened: the name server of the jar has it",
                           p->rules[i].name);
        add(ret, &p->rules[i], address);
    }
    add_hosts(ret, p, of_name, true); /* they cover others, too */
    add_hosts(ret, p, of_name, false);
    return check_every_port(ret, e);
}

int plan_possible(const struct network_policy *p, struct err *e)
{
    struct plumbing ignored;
    return plan_make(p, &ignored, e);
}
