#include "network/advice.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "network/address_set.h"

static const char in_request[] = "(\"network\": {\"allow\": […]} in a request)";

/* "api.foo.com:443", or "api.foo.com" if no port is known; false if it cannot be shown. */
static bool target_of(const struct network_record *r, char *out, size_t size)
{
    char host[ADDRESS_TEXT_SIZE];
    const char *shown = r->name;
    if (!r->name[0])
        shown = address_text(r->address, host, sizeof host);
    else if (!network_name_is_plain(r->name))
        return false;
    const char *udp = r->protocol == NETWORK_UDP ? "udp:" : "";
    bool v6 = !r->name[0] && strchr(shown, ':');
    if (r->port)
        (void)snprintf(out, size, "%s%s%s%s:%u", udp, v6 ? "[" : "", shown, v6 ? "]" : "", r->port);
    else
        (void)snprintf(out, size, "%s", shown);
    return true;
}

static void say_denied(const struct network_policy *p, const char *target, char *out)
{
    char allowed[NETWORK_LIST_SHOWN];
    (void)snprintf(out, NETWORK_ADVICE_SIZE,
                   "'%.100s' is not in this run's network list; allowed are %s. Add --allow-net "
                   "%.100s %s.",
                   target, network_policy_text(p, allowed, sizeof allowed), target, in_request);
}

static void say_blocked(const struct network_record *r, const char *target, char *out)
{
    char address[ADDRESS_TEXT_SIZE];
    (void)snprintf(out, NETWORK_ADVICE_SIZE,
                   "'%.100s' has the address %s, which no run reaches: it is private, or of this "
                   "machine. The operator can open it with the setting network.private "
                   "(--allow-private without a service).",
                   target, address_text(r->address, address, sizeof address));
}

static void say_limit(const struct network_policy *p, const struct network_record *r, char *out)
{
    char value[32];
    if (r->cap >= NETWORK_CAP_COUNT || !network_cap_defs[r->cap].exceeded)
        return;
    const struct network_cap_def *d = &network_cap_defs[r->cap];
    (void)snprintf(out, NETWORK_ADVICE_SIZE,
                   "The program %s than its limit of %s: the operator can raise the setting "
                   "network.%s.",
                   d->exceeded, unit_format(d->unit, p->caps.v[r->cap], value, sizeof value),
                   d->key);
}

static void say(const struct network_policy *p, const struct network_record *r, char *out)
{
    static const char *const failures[NETWORK_OUTCOME_COUNT_] = {
        [NETWORK_REFUSED] = "%s refused the connection: the host is there, and nothing listens at "
                            "this port.",
        [NETWORK_TIMEOUT] = "%s did not answer: the host is down, or a firewall drops the "
                            "connection.",
        [NETWORK_UNREACHABLE] = "%s cannot be reached from this machine.",
        [NETWORK_NO_NAME] = "%s is in the network list, but has no address: is the name right?",
        [NETWORK_RESET] = "The connection to %s was broken by the other side.",
        [NETWORK_BUSY] = "The connection to %s was refused because this machine has too many "
                         "connections: try again later.",
        [NETWORK_BAD_CERTIFICATE] =
            "%s has no certificate that this machine trusts for its name, so "
            "it got no secret and the connection was reset.",
        [NETWORK_TLS_FAILED] =
            "%s gets a secret, which needs TLS on both sides, and one of them did "
            "not agree: does the program trust /etc/ssl/certs?",
        [NETWORK_BAD_REQUEST] =
            "%s gets a secret, and the program sent it something that is no plain "
            "HTTP/1.1 request.",
        [NETWORK_IDLE] = "The connection to %s was closed because no byte came for too long.",
    };
    char target[NETWORK_NAME_MAX + 32];
    if (r->outcome == NETWORK_LIMIT) {
        say_limit(p, r, out);
        return;
    }
    if (!target_of(r, target, sizeof target))
        return;
    if (r->outcome == NETWORK_DENIED_NAME || r->outcome == NETWORK_DENIED_PORT) {
        say_denied(p, target, out);
    } else if (r->outcome == NETWORK_BLOCKED_ADDRESS) {
        say_blocked(r, target, out);
    } else if (r->outcome == NETWORK_SNI_MISMATCH && network_name_is_plain(r->sni)) {
        say_denied(p, r->sni, out);
    } else if (failures[r->outcome]) {
        const char *format = failures[r->outcome], *hole = strstr(format, "%s");
        (void)snprintf(out, NETWORK_ADVICE_SIZE, "%.*s%.200s%s", (int)(hole - format), format,
                       target, hole + 2);
    }
}

const char *network_advice(const struct network_policy *p, const struct network_log *log,
                           char out[NETWORK_ADVICE_SIZE])
{
    out[0] = '\0';
    for (size_t i = log->n; i-- > 0 && !out[0];)
        say(p, &log->v[i], out);
    return out;
}
