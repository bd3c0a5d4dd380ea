#include "jar/nft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"

#define TABLE "belljar"
#define CHAIN "catch"
/* Before the routes are looked up, where packets of the loopback interface arrive. */
enum { PRIORITY = -150, BATCH_BYTES = 16384, ANSWER_BYTES = 8192 };
enum { ATTRIBUTE_HEAD = sizeof(struct nlattr) };

/* A batch of messages. Attributes nest: begin() and end() know where. */
struct batch {
    _Alignas(struct nlmsghdr) char bytes[BATCH_BYTES];
    size_t n;
    size_t message; /* where the current one begins */
    uint32_t messages;
    bool failed;
};

static void *reserve(struct batch *b, size_t n)
{
    size_t aligned = NLMSG_ALIGN(n);
    if (b->failed || aligned > sizeof b->bytes - b->n) {
        b->failed = true;
        return NULL;
    }
    void *at = b->bytes + b->n;
    memset(at, 0, aligned);
    b->n += aligned;
    return at;
}

static void end_message(struct batch *b)
{
    struct nlmsghdr *head = (struct nlmsghdr *)(b->bytes + b->message);
    if (!b->failed)
        head->nlmsg_len = (uint32_t)(b->n - b->message);
}

static void begin_message(struct batch *b, uint16_t type, uint16_t flags, uint8_t family,
                          uint16_t resource)
{
    b->message = b->n;
    struct nlmsghdr *head = reserve(b, sizeof *head);
    struct nfgenmsg *generic = reserve(b, sizeof *generic);
    if (!generic)
        return;
    *head = (struct nlmsghdr){ .nlmsg_type = type,
                               .nlmsg_flags = NLM_F_REQUEST | flags,
                               .nlmsg_seq = ++b->messages };
    *generic = (struct nfgenmsg){ .nfgen_family = family,
                                  .version = NFNETLINK_V0,
                                  .res_id = htons(resource) };
    end_message(b);
}

static void begin_object(struct batch *b, uint16_t type)
{
    begin_message(b, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), NLM_F_CREATE | NLM_F_ACK,
                  NFPROTO_INET, 0);
}

static void put(struct batch *b, uint16_t type, const void *bytes, size_t n)
{
    struct nlattr *a = reserve(b, ATTRIBUTE_HEAD + n);
    if (!a)
        return;
    *a = (struct nlattr){ .nla_len = (uint16_t)(ATTRIBUTE_HEAD + n), .nla_type = type };
    memcpy((char *)a + ATTRIBUTE_HEAD, bytes, n);
}

static void put_text(struct batch *b, uint16_t type, const char *text)
{
    put(b, type, text, strlen(text) + 1);
}

static void put_number(struct batch *b, uint16_t type, uint32_t number)
{
    const uint32_t big = htonl(number);
    put(b, type, &big, sizeof big);
}

static size_t begin(struct batch *b, uint16_t type)
{
    size_t at = b->n;
    struct nlattr *a = reserve(b, ATTRIBUTE_HEAD);
    if (a)
        a->nla_type = type | NLA_F_NESTED;
    return at;
}

static void end(struct batch *b, size_t at)
{
    if (!b->failed)
        ((struct nlattr *)(b->bytes + at))->nla_len = (uint16_t)(b->n - at);
}

/* ---- expressions of a rule ---- */

struct expression {
    size_t element, data;
};

static struct expression begin_expression(struct batch *b, const char *name)
{
    struct expression x = { .element = begin(b, NFTA_LIST_ELEM) };
    put_text(b, NFTA_EXPR_NAME, name);
    x.data = begin(b, NFTA_EXPR_DATA);
    return x;
}

static void end_expression(struct batch *b, struct expression x)
{
    end(b, x.data);
    end(b, x.element);
}

static void put_value(struct batch *b, uint16_t type, const void *bytes, size_t n)
{
    size_t at = begin(b, type);
    put(b, NFTA_DATA_VALUE, bytes, n);
    end(b, at);
}

static void load_meta(struct batch *b, uint32_t key)
{
    struct expression x = begin_expression(b, "meta");
    put_number(b, NFTA_META_KEY, key);
    put_number(b, NFTA_META_DREG, NFT_REG_1);
    end_expression(b, x);
}

static void load_header(struct batch *b, size_t offset, size_t n)
{
    struct expression x = begin_expression(b, "payload");
    put_number(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
    put_number(b, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
    put_number(b, NFTA_PAYLOAD_OFFSET, (uint32_t)offset);
    put_number(b, NFTA_PAYLOAD_LEN, (uint32_t)n);
    end_expression(b, x);
}

/* The rule goes on if the register has this value, or (`equal` false) another one. */
static void compare(struct batch *b, bool equal, const void *bytes, size_t n)
{
    struct expression x = begin_expression(b, "cmp");
    put_number(b, NFTA_CMP_SREG, NFT_REG_1);
    put_number(b, NFTA_CMP_OP, equal ? NFT_CMP_EQ : NFT_CMP_NEQ);
    put_value(b, NFTA_CMP_DATA, bytes, n);
    end_expression(b, x);
}

static void keep_bits(struct batch *b, const void *mask, size_t n)
{
    static const uint8_t none[16] = { 0 };
    struct expression x = begin_expression(b, "bitwise");
    put_number(b, NFTA_BITWISE_SREG, NFT_REG_1);
    put_number(b, NFTA_BITWISE_DREG, NFT_REG_1);
    put_number(b, NFTA_BITWISE_LEN, (uint32_t)n);
    put_value(b, NFTA_BITWISE_MASK, mask, n);
    put_value(b, NFTA_BITWISE_XOR, none, n);
    end_expression(b, x);
}

static void set_register(struct batch *b, uint32_t reg, const void *bytes, size_t n)
{
    struct expression x = begin_expression(b, "immediate");
    put_number(b, NFTA_IMMEDIATE_DREG, reg);
    put_value(b, NFTA_IMMEDIATE_DATA, bytes, n);
    end_expression(b, x);
}

static size_t begin_rule(struct batch *b)
{
    begin_object(b, NFT_MSG_NEWRULE);
    if (!b->failed)
        ((struct nlmsghdr *)(b->bytes + b->message))->nlmsg_flags |= NLM_F_APPEND;
    put_text(b, NFTA_RULE_TABLE, TABLE);
    put_text(b, NFTA_RULE_CHAIN, CHAIN);
    return begin(b, NFTA_RULE_EXPRESSIONS);
}

/* ---- the rules ---- */

/* A rule: TCP of one family, by its target, to the socket at an address and a port. */
struct rule {
    bool ipv4, names;    /* names: to the address of a name, at any port */
    const uint8_t *only; /* to this address; NULL: to every one but loopback */
    const uint8_t *to;   /* of the socket: 4 or 16 bytes */
    uint16_t port;       /* 0: that of the packet */
};

static void match_target(struct batch *b, const struct rule *r)
{
    const uint8_t family = r->ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6, tcp = IPPROTO_TCP, net = 127;
    const uint32_t mask = htonl(UINT32_MAX << (32 - SYNTHETIC_PREFIX)),
                   synthetic = htonl(SYNTHETIC_NET);
    const size_t offset = r->ipv4 ? offsetof(struct iphdr, daddr)
                                  : offsetof(struct ip6_hdr, ip6_dst),
                 n = r->ipv4 ? 4 : 16;
    load_meta(b, NFT_META_NFPROTO);
    compare(b, true, &family, sizeof family);
    load_meta(b, NFT_META_L4PROTO);
    compare(b, true, &tcp, sizeof tcp);
    load_header(b, offset, r->ipv4 && !r->names && !r->only ? sizeof net : n);
    if (r->names) {
        keep_bits(b, &mask, sizeof mask);
        compare(b, true, &synthetic, sizeof synthetic);
    } else if (r->only) {
        compare(b, true, r->only, n);
    } else if (r->ipv4) {
        compare(b, false, &net, sizeof net);
    } else {
        compare(b, false, &in6addr_loopback, sizeof in6addr_loopback);
    }
}

static void add_rule(struct batch *b, const struct rule *r)
{
    const uint16_t big = htons(r->port);
    size_t list = begin_rule(b);
    match_target(b, r);
    set_register(b, NFT_REG_1, r->to, r->ipv4 ? 4 : 16);
    if (r->port)
        set_register(b, NFT_REG_2, &big, sizeof big);
    struct expression x = begin_expression(b, "tproxy");
    put_number(b, NFTA_TPROXY_FAMILY, r->ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
    put_number(b, NFTA_TPROXY_REG_ADDR, NFT_REG_1);
    if (r->port)
        put_number(b, NFTA_TPROXY_REG_PORT, NFT_REG_2);
    end_expression(b, x);
    end(b, list);
    end_message(b);
}

static void add_rules(struct batch *b, const struct plumbing *p, bool wildcards)
{
    static const uint8_t address6[16] = NFT_CATCH_ADDRESS6;
    uint8_t address[16];
    plumbing_set_ipv4(address, NFT_CATCH_ADDRESS);
    if (p->full) {
        add_rule(b, &(struct rule){ .ipv4 = true, .to = address + 12, .port = NFT_CATCH_PORT });
        add_rule(b, &(struct rule){ .to = address6, .port = NFT_CATCH_PORT });
        return;
    }
    if (wildcards)
        add_rule(b, &(struct rule){ .ipv4 = true, .names = true, .to = address + 12 });
    for (uint32_t i = 0; i < p->n; i++) {
        bool ipv4 = plumbing_is_ipv4(p->at[i].address);
        const uint8_t *own = p->at[i].address + (ipv4 ? 12 : 0);
        if (p->at[i].port == PLUMBING_EVERY_PORT)
            add_rule(
                b, &(struct rule){ .ipv4 = ipv4, .only = own, .to = own, .port = NFT_CATCH_PORT });
    }
}

static void add_chain(struct batch *b)
{
    begin_object(b, NFT_MSG_NEWTABLE);
    put_text(b, NFTA_TABLE_NAME, TABLE);
    end_message(b);
    begin_object(b, NFT_MSG_NEWCHAIN);
    put_text(b, NFTA_CHAIN_TABLE, TABLE);
    put_text(b, NFTA_CHAIN_NAME, CHAIN);
    size_t hook = begin(b, NFTA_CHAIN_HOOK);
    put_number(b, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
    put_number(b, NFTA_HOOK_PRIORITY, (uint32_t)PRIORITY);
    end(b, hook);
    put_text(b, NFTA_CHAIN_TYPE, "filter");
    end_message(b);
}

/* ---- to the kernel ---- */

static int refuse(int error, struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, error,
                   "this kernel has no nf_tables with tproxy (CONFIG_NFT_TPROXY)");
}

/* Each message between the two ends of the batch has its answer. */
static int await_answers(int fd, uint32_t wanted, struct err *e)
{
    _Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
    while (wanted > 0) {
        ssize_t got = recv(fd, answer, sizeof answer, 0);
        if (got <= 0)
            return refuse(got < 0 ? errno : 0, e);
        unsigned left = (unsigned)got;
        for (const struct nlmsghdr *m = (const struct nlmsghdr *)answer; NLMSG_OK(m, left);
             m = NLMSG_NEXT(m, left)) {
            if (m->nlmsg_type != NLMSG_ERROR)
                continue;
            const struct nlmsgerr *status = (const struct nlmsgerr *)NLMSG_DATA(m);
            if (status->error)
                return refuse(-status->error, e);
            wanted -= wanted > 0;
        }
    }
    return 0;
}

int nft_catch(const struct plumbing *p, bool wildcards, struct err *e)
{
    struct batch b = { 0 };
    begin_message(&b, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
    add_chain(&b);
    add_rules(&b, p, wildcards);
    uint32_t objects = b.messages - 1;
    begin_message(&b, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
    autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (b.failed || fd < 0 || send(fd, b.bytes, b.n, 0) != (ssize_t)b.n)
        return refuse(errno, e);
    return await_answers(fd, objects, e);
}
