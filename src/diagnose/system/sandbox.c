/* What our own policy caused: a jar has no network, a read-only root, and the commands it was given. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/grammar.h"

enum policy {
    POLICY_NETWORK,
    POLICY_LOOPBACK,
    POLICY_READ_ONLY,
    POLICY_DENIED,
    POLICY_FULL,
    POLICY_OPEN_FILES
};

/* What libraries and programs say when they meet it. */
static const struct {
    const char *words;
    enum policy policy;
} sayings[] = {
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
    { "onnection refused", POLICY_LOOPBACK },
    { "ECONNREFUSED", POLICY_LOOPBACK },
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

static bool said(struct piece text, enum policy *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(sayings); i++)
        if (piece_has(text, sayings[i].words)) {
            *ret = sayings[i].policy;
            return true;
        }
    return false;
}

/* In the error itself first, then in what led to it. Other text is believed only of a program whose own error says little:
 * a shell's, and one that no grammar read. */
static bool policy_met(const struct diagnose_input *in, const struct diagnosis *d, enum policy *ret)
{
    if (said(piece_of(d->message), ret) || said(piece_of(d->type), ret))
        return true;
    for (size_t i = 0; i < d->n_causes; i++)
        if (said(piece_of(d->causes[i].message), ret))
            return true;
    bool shell = in->grammar && strcmp(in->grammar, "shell") == 0;
    return (shell || strncmp(d->type, "exit ", 5) == 0) &&
           said((struct piece){ in->text, in->len }, ret);
}

/* A path that the error names, in quotes or as a word of its own; at NULL: none. */
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
    return starts_with(path, directory) && (path.len == n || path.at[n] == '/');
}

static bool of_the_jars(struct piece path)
{
    return below(path, "/sandbox") || below(path, "/tmp") || below(path, "/dev/shm");
}

static void blame(struct diagnosis *d, enum category category)
{
    d->sandbox = true;
    if (d->category != CATEGORY_RESOURCE)
        d->category = category;
}

static const char no_network[] =
    "A jar has no network but its own loopback, and no option opens one: fetch the data outside "
    "and send it with the run (a file beside the program, or standard input).";

static void advise_network(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    (void)g;
    (void)in;
    blame(d, CATEGORY_NETWORK);
    suggest(d, 39, 0.95, "%s", no_network);
}

static void advise_loopback(struct diagnoser *g, const struct diagnose_input *in,
                            struct diagnosis *d)
{
    (void)g;
    (void)in;
    blame(d, CATEGORY_NETWORK);
    suggest(d, 39, 0.8,
            "Nothing listens there: the loopback is the jar's own, so services of the host (a "
            "database, an API on localhost) are not reached from inside. A server that the program "
            "starts itself is: start it first, and wait until it listens.");
}

static void advise_read_only(struct diagnoser *g, const struct diagnose_input *in,
                             struct diagnosis *d)
{
    (void)in;
    struct piece path = path_named(g, d);
    blame(d, CATEGORY_PERMISSION);
    suggest(d, 39, 0.9,
            "%.*s%s is read-only in a jar. Write below /sandbox (where the program starts) or "
            "/tmp; --writable-root (\"read_only\": false in a request) gives a root that can be "
            "written and is thrown away.",
            (int)path.len, path.at ? path.at : "", path.at ? "" : "The root");
}

/* By the list of what may be executed: what is not on it is refused as if it were no program. The text is the guest's, and what is
 * advised is pasted into shells: only what could be a command's name, and is one word for any shell, is named. */
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
    struct piece name = m.group[0];
    const char *slash = memrchr(name.at, '/', name.len);
    if (slash) {
        name.len -= (size_t)(slash + 1 - name.at);
        name.at = slash + 1;
    }
    for (char *const *c = in->allow_commands; *c; c++)
        if (piece_is(name, *c))
            return false;
    blame(d, CATEGORY_SANDBOX);
    suggest(d, 39, 0.95,
            "'%.*s' is not among the commands this run may execute: add --allow-command %.*s (a "
            "row of \"allow_commands\" in a request).",
            (int)name.len, name.at, (int)name.len, name.at);
    return true;
}

static void advise_denied(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece path = path_named(g, d);
    if (advise_command(g, in, d))
        return;
    d->category = CATEGORY_PERMISSION;
    if (path.at && of_the_jars(path)) {
        suggest(d, 39, 0.6,
                "The file is the jar's own, so its mode says no: give it what is missing (chmod +x "
                "to execute it, +r to read it), or run it by its interpreter.");
        return;
    }
    if (!path.at && piece_has(piece_of(d->message), "./")) {
        suggest(d, 39, 0.6,
                "It is not executable: chmod +x FILE, or give it to its interpreter (bash FILE).");
        return;
    }
    blame(d, CATEGORY_PERMISSION);
    if (path.at)
        suggest(d, 39, 0.8,
                "In a jar the program is an ordinary user, and %.*s is not its own: what it may "
                "write is /sandbox and /tmp.",
                (int)path.len, path.at);
    else
        suggest(d, 39, 0.7,
                "A jar gives the program no privileges: ports below 1024, mounts, other users and "
                "the host's devices are not for it, whatever it runs as.");
}

static void advise_full(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    (void)g;
    (void)in;
    blame(d, CATEGORY_RESOURCE);
    suggest(d, 40, 0.8,
            "What it may write is limited: --disk SIZE and --files N (\"limits\": {\"disk\", "
            "\"files\"} in a request) allow more.");
}

static void advise_open_files(struct diagnoser *g, const struct diagnose_input *in,
                              struct diagnosis *d)
{
    (void)g;
    (void)in;
    blame(d, CATEGORY_RESOURCE);
    suggest(d, 40, 0.8,
            "Close files when they are done with (a with statement does), or allow more at once: "
            "--open-files N (\"limits\": {\"open_files\"} in a request).");
}

static void (*const advisers[])(struct diagnoser *, const struct diagnose_input *,
                                struct diagnosis *) = {
    [POLICY_NETWORK] = advise_network,     [POLICY_LOOPBACK] = advise_loopback,
    [POLICY_READ_ONLY] = advise_read_only, [POLICY_DENIED] = advise_denied,
    [POLICY_FULL] = advise_full,           [POLICY_OPEN_FILES] = advise_open_files,
};

void sandbox_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    enum policy policy;
    if (in->sealed && policy_met(in, d, &policy))
        advisers[policy](g, in, d);
}
