/* Asks a running service for its warm starts, and prints them. */
#include "cli/commands/warm_view.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/commands/service_db.h"
#include "cli/run/remote.h"
#include "client/client.h"
#include "runtime/language.h"

enum { ANSWER_MS = 3000, ANSWER_MAX = 1 << 20 };

static void client_end(struct client **c)
{
    client_done(c);
}

json_t *warm_ask(void)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    struct err e;
    size_t len;
    static const struct client_request stats = { .method = "GET",
                                                 .path = "/v1/stats",
                                                 .body_max = ANSWER_MAX };
    static const struct service_choice here = { .here = true };
    if (remote_connect(&here, &c, &e) || service_db_become_owner(NULL, &e) ||
        client_ask(c, &stats, ANSWER_MS, &e) || client_response(c)->status != 200)
        return NULL;
    const char *body = client_body(c, &len);
    json_auto_t *answer = json_loadb(body, len, 0, NULL);
    json_t *pools = json_object_get(answer, "pools");
    json_t *pressure = json_object_get(answer, "memory_pressure");
    if (!json_is_object(pools) || !json_is_boolean(pressure))
        return NULL;
    return json_pack("{s:O, s:O}", "pools", pools, "memory_pressure", pressure);
}

/* The text came over a socket and goes to a terminal: control characters are replaced. */
static void print_plainly(const char *text)
{
    for (; *text; text++)
        (void)putchar((unsigned char)*text < ' ' || *text == 0x7F ? '?' : *text);
}

static long long count(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

static void print_kind(const char *name, const json_t *pool)
{
    const char *state = json_string_value(json_object_get(pool, "zygote"));
    const char *why = json_string_value(json_object_get(pool, "why"));
    const json_t *starts = json_object_get(pool, "starts");
    char quoted_name[64], quoted[32];
    bool up = state && strcmp(state, "up") == 0;
    (void)printf("  [%c] %-14s %s", up ? 'x' : ' ',
                 text_quote(name, quoted_name, sizeof quoted_name),
                 text_quote(state ? state : "?", quoted, sizeof quoted));
    if (why) {
        (void)printf(": ");
        print_plainly(why);
    }
    (void)printf("; %lld ready of %lld; starts: %lld warm, %lld hatched, %lld cold\n",
                 count(pool, "ready"), count(pool, "target"), count(starts, "warm"),
                 count(starts, "hatched"), count(starts, "cold"));
}

static void print_kinds_left_out(void)
{
    const char *first;
    size_t n = warm_left_out(&first);
    if (n > 0)
        (void)printf("  [ ] %zu kinds are left out, from '%s' on: their programs start cold\n      "
                     "up to %d kinds fit: fewer languages with warm starts help\n",
                     n, first, ZYGOTE_KINDS_MAX);
}

void warm_print(const json_t *warm)
{
    const struct zygote_def *defs[ZYGOTE_KINDS_MAX];
    const char *kind;
    json_t *pool;
    if (!warm) {
        (void)printf("\nWarm starts:\n  %zu kinds are known; only a running service can show which "
                     "of them work\n      belljar serve\n",
                     warm_zygotes(defs));
        print_kinds_left_out();
        return;
    }
    (void)printf("\nWarm starts of the running service:\n");
    json_object_foreach(json_object_get(warm, "pools"), kind, pool)
        print_kind(kind, pool);
    print_kinds_left_out();
    if (json_is_true(json_object_get(warm, "memory_pressure")))
        (void)printf("  memory is short: no interpreter waits (setting pools.memory_floor)\n");
}
