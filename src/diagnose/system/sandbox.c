/* Errors that Belljar's own policy causes: a jar has a read-only root, and only the network and the
 * commands that it was given. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

enum policy {
    POLICY_NETWORK,
    POLICY_LOOPBACK,
    POLICY_RESET,
    POLICY_READ_ONLY,
    POLICY_DENIED,
    POLICY_FULL,
    POLICY_OPEN_FILES
};

/* The words of libraries and programs that meet the policy. */
static const struct {
    const char *words;
    enum policy policy;
} policy_words[] = {
    { "Temporary failure in name resolution", POLICY_NETWORK },
    { "Name or service not known", POLICY_NETWORK },
    { "No address associated with hostname", POLICY_NETWORK },
    { "ould not resolve host", POLICY_NETWORK },
    { "unable to resolve host", POLICY_NETWORK },
    { "Failed to resolve", POLICY_NETWORK },
    { "EAI_AGAIN", POLICY_NETWORK },
    { "getaddrinfo", POLICY_NETWORK },
    { "UnknownHostException", POLICY_NETWORK },
    { "ENOTFOUND", POLICY_NETWORK },
    { "dial tcp: lookup", POLICY_NETWORK },
    { "suitable TLS CA certificate bundle", POLICY_NETWORK }, /* requests, before it connects */
    { "Network is unreachable", POLICY_NETWORK },
    { "network is unreachable", POLICY_NETWORK },
    { "ENETUNREACH", POLICY_NETWORK },
    { "No route to host", POLICY_NETWORK },
    { "onnection reset by peer", POLICY_RESET },
    { "ECONNRESET", POLICY_RESET },
    { "onnection reset", POLICY_RESET },
    { "onnection refused", POLICY_LOOPBACK },
    { "ECONNREFUSED", POLICY_LOOPBACK },
    { "Couldn't connect to server", POLICY_LOOPBACK }, /* curl */
    { "ead-only file system", POLICY_READ_ONLY },
    { "EROFS", POLICY_READ_ONLY },
    { "ermission denied", POLICY_DENIED },
    { "EACCES", POLICY_DENIED },
    { "Operation not permitted", POLICY_DENIED },
    { "EPERM", POLICY_DENIED },
    { "No space left on device", POLICY_FULL },
    { "ENOSPC", POLICY_FULL },
    { "Too many open files", POLICY_OPEN_FILES },
    { "EMFILE", POLICY_OPEN_FILES },
};

static bool find_policy(struct piece text, enum policy *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(policy_words); i++)
        if (piece_has(text, policy_words[i].words)) {
            *ret = policy_words[i].policy;
            return true;
        }
    return false;
}

/* Looks in the error itself first, then in its causes. The rest of the output counts only when the
 * error says little: for a shell, and for a program whose error no grammar read. */
static bool policy_met(const struct diagnose_input *in, const struct diagnosis *d, enum policy *ret)
{
    if (find_policy(piece_of(d->message), ret) || find_policy(piece_of(d->type), ret))
        return true;
    for (size_t i = 0; i < d->n_causes; i++)
        if (find_policy(piece_of(d->causes[i].message), ret))
            return true;
    bool shell = in->grammar && strcmp(in->grammar, "shell") == 0;
    return (shell || strncmp(d->type, "exit ", 5) == 0) && find_policy(text_of(in), ret);
}

/* A path that the error names, in quotes or as a word; NO_PIECE when it names none. */
static struct piece path_named(struct diagnoser *g, const struct diagnosis *d)
{
    struct match m;
    struct piece message = piece_of(d->message);
    if (match(g, "['\"](/[^'\"]*)['\"]", message, &m) ||
        match(g, "(?:^|[\\s:])(/[^\\s:,;'\")]+)", message, &m))
        return m.group[0];
    return NO_PIECE;
}

static bool below(struct piece path, const char *directory)
{
    size_t n = strlen(directory);
    return starts_with(path, directory) && (path.len == n || piece_byte(path, n) == '/');
}

static bool is_of_jar(struct piece path)
{
    return below(path, "/sandbox") || below(path, "/tmp") || below(path, "/dev/shm");
}

static void blame(struct diagnosis *d, enum category category)
{
    d->sandbox = true;
    if (d->category != CATEGORY_RESOURCE)
        d->category = category;
}

/* The host that an error names: in words of curl, requests, Node, Go, Java, Ruby and others. */
static bool host_named(struct diagnoser *g, const struct diagnose_input *in,
                       const struct diagnosis *d, struct piece *ret)
{
    static const char *const patterns[] = {
        "(?:[Cc]ould not resolve (?:host:?|hostname)|unable to resolve host(?: address)?|Failed to "
        "resolve|UnknownHostException:|ENOTFOUND|EAI_AGAIN|getaddrinfo "
        "for|lookup|host=|getaddrinfo: "
        "Name or service not known,)\\s*['\"]?((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\\.)+"
        "[a-zA-Z][a-zA-Z0-9-]*)",
        "(?:https?|ftp|ssh|git)://"
        "((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\\.)+[a-zA-Z][a-zA-Z0-9-]*)",
    };
    struct match m;
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        if (match(g, patterns[i], piece_of(d->message), &m) ||
            match(g, patterns[i], text_of(in), &m)) {
            *ret = m.group[0];
            return true;
        }
    }
    return false;
}

#define TARGET                                                                \
    "((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\\.)+[a-zA-Z][a-zA-Z0-9-]*|" \
    "[0-9]{1,3}(?:\\.[0-9]{1,3}){3})"

/* Addresses of the jar itself say nothing about a list: the loopback, and addresses that stand for names. */
static bool is_own_address(struct piece host)
{
    static const char *const beginnings[] = { "127.", "0.", "198.18.", "198.19." };
    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
        if (starts_with(host, beginnings[i]))
            return true;
    return false;
}

static bool target_in(struct diagnoser *g, struct piece text, struct piece *host,
                      struct piece *port)
{
    static const char *const patterns[] = {
        "(?:[Ff]ailed to connect to|connect to host|server at|[Cc]onnection "
        "to|for|host=)\\s*['\"]?" TARGET
        "['\"]?(?: \\([^)]{1,60}\\))?,?(?::| port[= ]?)([0-9]{1,5})\\b",
        "(?:https?|ftp|ssh|git)://" TARGET ":([0-9]{1,5})\\b",
        "connect E[A-Z]+ " TARGET ":([0-9]{1,5})\\b",
    };
    struct match m;
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (match(g, patterns[i], text, &m) && m.group[0].len <= 100 &&
            !is_own_address(m.group[0])) {
            *host = m.group[0];
            *port = m.group[1];
            return true;
        }
    return false;
}

/* The host and the port that an error names. Other output may name hosts that were reached, so it counts only for a
 * shell, whose errors are the words of other programs. */
static bool target_named(struct diagnoser *g, const struct diagnose_input *in,
                         const struct diagnosis *d, struct piece *host, struct piece *port)
{
    if (target_in(g, piece_of(d->message), host, port))
        return true;
    for (size_t i = 0; i < d->n_causes; i++)
        if (target_in(g, piece_of(d->causes[i].message), host, port))
            return true;
    return in->grammar && strcmp(in->grammar, "shell") == 0 &&
           target_in(g, text_of(in), host, port);
}

/* The kernel of the jar refuses a connection that the list does not have, so that the log has no record of it. */
static bool advise_listed(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece host, port;
    if (!in->network_list || !target_named(g, in, d, &host, &port))
        return false;
    suggest(d, 39, 0.95,
            "'%.*s:%.*s' is not in this run's network list; allowed are %s. Add --allow-net "
            "%.*s:%.*s (\"network\": {\"allow\": [\"%.*s:%.*s\"]} in a request).",
            P(host), P(port), in->network_list, P(host), P(port), P(host), P(port));
    return true;
}

static void advise_elsewhere(struct diagnoser *g, const struct diagnose_input *in,
                             struct diagnosis *d)
{
    if (!in->network_list)
        suggest(d, 39, 0.8, "The program can reach every public host, and no private address.");
    else if (!advise_listed(g, in, d))
        suggest(d, 39, 0.8,
                "The program can reach the hosts of its network list (%s), by their names and at "
                "their ports, and no other address.",
                in->network_list);
}

/* The host is one plain word for any shell (DIAGNOSE-4). */
static void advise_network(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct piece host;
    blame(d, CATEGORY_NETWORK);
    if (in->network_advice)
        suggest(d, 39, 0.95, "%s", in->network_advice);
    else if (in->has_network)
        advise_elsewhere(g, in, d);
    else if (host_named(g, in, d, &host) && host.len <= 100)
        suggest(d, 39, 0.95,
                "This run has no network. If it should reach '%.*s', add --allow-net %.*s "
                "(\"network\": {\"allow\": [\"%.*s\"]} in a request); or fetch the data outside "
                "and send it with the run.",
                P(host), P(host), P(host));
    else
        suggest(d, 39, 0.95,
                "This run has no network except its own loopback. --allow-net HOST (\"network\": "
                "{\"allow\": [\"HOST\"]} in a request) lets it reach a host; or fetch the data "
                "outside and send it with the run (a file beside the program, or standard input).");
}

static void advise_loopback(struct diagnoser *g, const struct diagnose_input *in,
                            struct diagnosis *d)
{
    blame(d, CATEGORY_NETWORK);
    if (in->network_advice) {
        suggest(d, 39, 0.9, "%s", in->network_advice);
        return;
    }
    if (advise_listed(g, in, d))
        return;
    if (in->network_list)
        suggest(
            d, 39, 0.7,
            "Either this port of a host is not in the network list: allowed are %s, and "
            "--allow-net HOST:PORT (\"network\": {\"allow\": [...]} in a request) adds another. "
            "Or it is a server on the loopback, which is the jar's own: the program can reach one "
            "that it starts itself, when it listens.",
            in->network_list);
    else
        suggest(
            d, 39, 0.8,
            "Nothing listens there: the loopback is the jar's own, so the program cannot reach "
            "services of the host (a database, an API on localhost). It can reach a server that it "
            "starts itself: start the server first, and wait until it listens.");
}

/* The porter resets a connection that the remote host refused, or that the policy ends. */
static void advise_reset(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    (void)g;
    if (!in->network_advice)
        return;
    d->category = CATEGORY_NETWORK;
    suggest(d, 39, 0.9, "%s", in->network_advice);
}

static void advise_read_only(struct diagnoser *g, const struct diagnose_input *in,
                             struct diagnosis *d)
{
    (void)in;
    struct piece path = path_named(g, d);
    blame(d, CATEGORY_PERMISSION);
    suggest(d, 39, 0.9,
            "%.*s is read-only in a jar. Write below /sandbox (where the program starts) or /tmp; "
            "--writable-root (\"read_only\": false in a request) gives the jar a root that can be "
            "written and is removed afterwards.",
            P(path.at ? path : PIECE("The root")));
}

/* A command that is not on the allow-list is refused. The text is the guest's, and people paste
 * suggestions into shells: a name appears in the suggestion only if it is one plain word for any
 * shell (DIAGNOSE-4). */
static bool advise_command(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct match m;
    if (!in->allow_commands || !in->allow_commands[0] ||
        !match(g,
               "^(?:exec: )?((?:[\\w.+-]*/)*\\w[\\w.+-]*): (?:[Pp]ermission denied|Operation not "
               "permitted|not allowed)",
               piece_of(d->message), &m))
        return false;
    struct piece name = piece_base(m.group[0]);
    for (char *const *c = in->allow_commands; *c; c++)
        if (piece_is(name, *c))
            return false;
    blame(d, CATEGORY_SANDBOX);
    suggest(d, 39, 0.95,
            "'%.*s' is not among the commands that this run may execute: add --allow-command %.*s "
            "(a row of \"allow_commands\" in a request).",
            P(name), P(name));
    return true;
}

static void advise_denied(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece path = path_named(g, d);
    if (advise_command(g, in, d))
        return;
    d->category = CATEGORY_PERMISSION;
    if (path.at && is_of_jar(path)) {
        suggest(d, 39, 0.6,
                "The file is the jar's own, and its mode forbids this: change the mode (chmod +x "
                "to execute it, +r to read it), or run it with its interpreter.");
        return;
    }
    if (!path.at && piece_has(piece_of(d->message), "./")) {
        suggest(d, 39, 0.6,
                "The file is not executable: chmod +x FILE, or run it with its interpreter (bash "
                "FILE).");
        return;
    }
    blame(d, CATEGORY_PERMISSION);
    if (path.at)
        suggest(d, 39, 0.8,
                "In a jar the program is an ordinary user, and %.*s is not its own: it may write "
                "to /sandbox and /tmp.",
                P(path));
    else
        suggest(d, 39, 0.7,
                "A jar gives the program no privileges, not even as root: it cannot use ports "
                "below 1024, mounts, other users or the host's devices.");
}

static void advise_full(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    (void)g;
    (void)in;
    blame(d, CATEGORY_RESOURCE);
    suggest(d, 40, 0.8,
            "The space for files is limited: --disk SIZE and --files N (\"limits\": {\"disk\", "
            "\"files\"} in a request) allow more.");
}

/* This advice is the only trace of the limit: the kernel counts no refusal of a descriptor, so
 * limits_hit cannot name it. */
static void advise_open_files(struct diagnoser *g, const struct diagnose_input *in,
                              struct diagnosis *d)
{
    (void)g;
    char number[24] = "a limited number of";
    if (in->limits)
        (void)snprintf(number, sizeof number, "%llu",
                       (unsigned long long)in->limits->v[LIMIT_OPEN_FILES]);
    blame(d, CATEGORY_RESOURCE);
    suggest(d, 40, 0.8,
            "A process may hold %s files open at a time. Close each file after its use, or allow "
            "more: --open-files N (\"limits\": {\"open_files\"} in a request).",
            number);
}

static void (*const advisers[])(struct diagnoser *, const struct diagnose_input *,
                                struct diagnosis *) = {
    [POLICY_NETWORK] = advise_network,       [POLICY_LOOPBACK] = advise_loopback,
    [POLICY_RESET] = advise_reset,           [POLICY_READ_ONLY] = advise_read_only,
    [POLICY_DENIED] = advise_denied,         [POLICY_FULL] = advise_full,
    [POLICY_OPEN_FILES] = advise_open_files,
};

void sandbox_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    enum policy policy;
    if (in->sealed && policy_met(in, d, &policy))
        advisers[policy](g, in, d);
}
