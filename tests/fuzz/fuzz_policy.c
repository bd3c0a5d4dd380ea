/* Entries of network lists, presets, ranges of addresses, and the bytes of policies and records. The
 * first byte chooses. A rule that was accepted reads the same again from its text and its bytes, and
 * no name is an address in disguise. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "network/address.h"
#include "network/preset.h"
#include "network/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct network_policy *a, const struct network_policy *b)
{
    if (a->mode != b->mode || a->n != b->n || !network_policy_is_within(a, b, NULL) ||
        !network_policy_is_within(b, a, NULL))
        abort();
}

static void check_rules(const struct network_policy *p)
{
    for (size_t i = 0; i < p->n; i++) {
        scoped(network_policy) again = { .caps = p->caps };
        struct in_addr address;
        char text[NETWORK_RULE_TEXT];
        struct err e;
        if (network_policy_add(&again, NETWORK_TCP, network_rule_text(&p->rules[i], text), &e) ||
            again.n != 1 || memcmp(&again.rules[0], &p->rules[i], sizeof again.rules[0]) != 0)
            abort();
        if (p->rules[i].host == NETWORK_HOST_NAME && inet_aton(p->rules[i].name, &address))
            abort();
    }
}

static void check_policy(const struct network_policy *p)
{
    scoped(network_policy) back = { 0 };
    scoped(buf) bytes = { 0 };
    char text[64];
    struct err e;
    check_rules(p);
    (void)network_policy_text(p, text, sizeof text);
    if (network_policy_encode(p, &bytes, &e) ||
        network_policy_decode(bytes.data, bytes.len, &back, &e))
        abort();
    check_same(p, &back);
}

static void read_text(const char *text)
{
    struct network_caps caps = network_caps_default();
    scoped(network_policy) p = { 0 };
    scoped(address_set) ranges = { 0 };
    struct err e;
    if (network_policy_parse(text, "own=a.example.org", &caps, &p, &e) == 0)
        check_policy(&p);
    if (network_presets_check(text, &e) == 0) {
        scoped(network_policy) all = { .caps = caps };
        (void)!network_policy_add_entry(&all, text, NETWORK_TCP, "@a", &e);
        check_rules(&all);
    }
    if (network_keys_check(text, "own=a.example.org", &e) == 0) {
        scoped(network_policy) most = { 0 };
        bool found;
        if (network_max_of_key(text, "own=a.example.org", "a", &caps, &most, &found, &e))
            abort();
        check_rules(&most);
    }
    (void)!address_set_parse(text, &ranges, &e);
}

static void read_bytes(const uint8_t *data, size_t size)
{
    scoped(network_policy) p = { 0 };
    struct network_record r;
    struct err e;
    if (network_policy_decode(data, size, &p, &e) == 0 && p.mode == NETWORK_LIST && p.n == 0)
        abort();
    scoped(network_log) log = { 0 };
    if (network_record_decode(data, size, &r, &e) == 0)
        network_log_add(&log, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'b') {
        read_bytes(data + 1, size - 1);
        return 0;
    }
    autofree char *text = calloc(1, size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    read_text(text);
    return 0;
}
