/* A policy as bytes, for the way from the keeper to the porter. */
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "network/policy.h"

enum { VERSION = 2 };

static void pack_rule(struct packer *p, const struct network_rule *rule)
{
    pack_u32(p, rule->host);
    pack_u32(p, rule->protocol);
    pack_u32(p, rule->port);
    if (rule->host == NETWORK_HOST_ADDRESS)
        pack_bytes(p, rule->address, sizeof rule->address);
    else
        pack_str(p, rule->name);
}

static void pack_inject(struct packer *p, const struct network_inject *x)
{
    pack_u32(p, x->port);
    pack_str(p, x->host);
    pack_str(p, x->header);
    pack_str(p, x->secret);
    pack_str(p, x->prefix);
}

int network_policy_encode(const struct network_policy *p, struct buf *b, struct err *e)
{
    if (buf_reserve(b, NETWORK_ENCODED_MAX, e))
        return -1;
    struct packer out = { .at = b->data + b->len, .left = NETWORK_ENCODED_MAX };
    pack_u32(&out, VERSION);
    pack_u32(&out, p->mode);
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        pack_u64(&out, p->caps.v[i]);
    pack_u32(&out, (uint32_t)p->n);
    for (size_t i = 0; i < p->n; i++)
        pack_rule(&out, &p->rules[i]);
    pack_u32(&out, (uint32_t)p->n_injects);
    for (size_t i = 0; i < p->n_injects; i++)
        pack_inject(&out, &p->injects[i]);
    if (out.failed)
        return err_set(e, ERR_TOO_LARGE, 0, "the network list does not fit into a message");
    b->len = (size_t)(out.at - b->data);
    b->data[b->len] = '\0';
    return 0;
}

static int bad(const char *what, struct err *e)
{
    return err_set(e, ERR_PROTOCOL, 0, "network policy: %s", what);
}

static int unpack_rule(struct unpacker *u, struct network_rule *ret, struct err *e)
{
    uint32_t host = unpack_u32(u), protocol = unpack_u32(u), port = unpack_u32(u);
    if (u->failed || host >= NETWORK_HOST_COUNT_ || protocol >= NETWORK_PROTOCOL_COUNT_ ||
        port > UINT16_MAX)
        return bad("a rule is malformed", e);
    *ret = (struct network_rule){ .host = (enum network_host)host,
                                  .protocol = (enum network_protocol)protocol,
                                  .port = (uint16_t)port };
    if (!network_rule_port_is_sane(ret))
        return bad("a rule has every port", e);
    if (host == NETWORK_HOST_ADDRESS) {
        size_t n = 0;
        const char *bytes = unpack_bytes(u, &n);
        if (!bytes || n != sizeof ret->address)
            return bad("an address is malformed", e);
        memcpy(ret->address, bytes, n);
        return network_rule_is_unspecified(ret) ? bad("an address is no host", e) : 0;
    }
    const char *name = unpack_str(u);
    if (!name || !network_name_is_plain(name))
        return bad("a name is malformed", e);
    if (host == NETWORK_HOST_SUBDOMAINS &&
        (network_name_labels(name) < 2 || strlen(name) > NETWORK_NAME_MAX - 2))
        return bad("a wildcard is too wide", e);
    memcpy(ret->name, name, strlen(name) + 1);
    return 0;
}

static int unpack_rules(struct unpacker *u, struct network_policy *p, size_t n, struct err *e)
{
    if (n == 0)
        return 0;
    p->rules = calloc(n, sizeof *p->rules);
    if (!p->rules)
        return err_no_memory(e, "a network policy");
    for (; p->n < n; p->n++)
        if (unpack_rule(u, &p->rules[p->n], e))
            return -1;
    return 0;
}

static int unpack_text(struct unpacker *u, char *out, size_t size)
{
    const char *text = unpack_str(u);
    if (!text || strlen(text) >= size)
        return -1;
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int unpack_injects(struct unpacker *u, struct network_policy *p, struct err *e)
{
    uint32_t n = unpack_u32(u);
    struct err why;
    if (n > NETWORK_INJECTS_MAX || (n > 0 && p->mode == NETWORK_NONE))
        return bad("there are too many headers", e);
    for (uint32_t i = 0; i < n; i++) {
        struct network_inject x = { 0 };
        uint32_t port = unpack_u32(u);
        x.port = (uint16_t)(port <= UINT16_MAX ? port : 0);
        if (unpack_text(u, x.host, sizeof x.host) || unpack_text(u, x.header, sizeof x.header) ||
            unpack_text(u, x.secret, sizeof x.secret) ||
            unpack_text(u, x.prefix, sizeof x.prefix) || !network_inject_is_plain(&x) ||
            network_policy_add_inject(p, &x, &why))
            return bad("a header is malformed", e);
    }
    return 0;
}

static int unpack_policy(struct unpacker *u, struct network_policy *p, struct err *e)
{
    uint32_t version = unpack_u32(u), mode = unpack_u32(u);
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        p->caps.v[i] = unpack_u64(u);
    uint32_t n = unpack_u32(u);
    if (u->failed || version != VERSION || mode >= NETWORK_MODE_COUNT_ || n > NETWORK_RULES_MAX ||
        (mode == NETWORK_LIST) != (n > 0))
        return bad("its head is malformed", e);
    struct err why;
    if (mode != NETWORK_NONE && network_caps_check(&p->caps, &why))
        return bad(why.text, e);
    p->mode = (enum network_mode)mode;
    return unpack_rules(u, p, n, e) || unpack_injects(u, p, e) ? -1 : 0;
}

int network_policy_decode(const void *bytes, size_t n, struct network_policy *ret, struct err *e)
{
    struct unpacker u = { .at = bytes, .left = n };
    struct network_policy p = { 0 };
    if (unpack_policy(&u, &p, e) || unpack_end(&u, "network policy", e)) {
        network_policy_done(&p);
        return -1;
    }
    *ret = p;
    return 0;
}
