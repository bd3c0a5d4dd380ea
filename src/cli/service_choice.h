/* cli/service_choice.h — the service that a command uses: the one of this machine, or one by its URL.
 * Runs in: main. Every command that reaches a service has these options, and remote_connect()
 * (run/remote.h) is the only function that follows them.
 *
 * Invariants
 * SERVICE_CHOICE-1 A service that is named by its URL is never replaced by another one, nor by a run
 *                  on this machine.
 * SERVICE_CHOICE-2 A key goes to a service that is named by its URL, and to no other. */
#pragma once

#include <stdbool.h>

#include "cli/args.h"
#include "client/client.h"

struct service_choice {
    const char *state;    /* --state; NULL: the default directory */
    const char *url;      /* --service; NULL: $BELLJAR_URL, if there is no --state */
    const char *key_file; /* --key-file; NULL: $BELLJAR_API_KEY */
    bool here;            /* only the service of this machine: $BELLJAR_URL does not count */
};

#define SERVICE_ROWS(type, member)                                                               \
    { "service", "URL", .offset = offsetof(type, member.url),                                    \
      .help = "use the service at http://HOST:PORT or unix:/PATH, and no other; "                \
              "$BELLJAR_URL by default" },                                                       \
        { "key-file", "FILE", .offset = offsetof(type, member.key_file),                         \
          .values.kind = VALUES_FILE,                                                            \
          .help = "API key for that service; $BELLJAR_API_KEY by default" },                     \
    {                                                                                            \
        "state", "DIR", .offset = offsetof(type, member.state), .values.kind = VALUES_DIRECTORY, \
                        .help = "state directory of the service"                                 \
    }

/* NULL: the service of this machine. `s` may be NULL. */
const char *service_choice_url(const struct service_choice *s);
/* ERR_USAGE if the options contradict each other. */
[[nodiscard]] int service_choice_check(const struct service_choice *s, struct err *e);
/* Connects to the service of service_choice_url(), with its key. */
[[nodiscard]] int service_choice_connect(const struct service_choice *s, struct client **ret,
                                         struct err *e);
/* Gives up the rights of root, for good, before an answer is read. */
[[nodiscard]] int service_choice_drop_root(const struct service_choice *s, struct err *e);

/* Always -1: as client_refusal(), with the next step at a terminal if it is about the key, or if the
 * answer is not that of a service. */
[[nodiscard]] int service_refusal(const struct client *c, struct err *e);
