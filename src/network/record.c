#include "network/record.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/pack.h"

static const struct {
    const char *word;
    bool denied;
} outcomes[] = {
#define X(id, word, denied) { word, denied },
    NETWORK_OUTCOME_TABLE(X)
#undef X
};

const char *network_outcome_word(enum network_outcome outcome)
{
    return outcomes[outcome].word;
}

bool network_outcome_is_denial(enum network_outcome outcome)
{
    return outcomes[outcome].denied;
}

/* ---- bytes ---- */

int network_record_encode(const struct network_record *r, char out[NETWORK_RECORD_MAX],
                          size_t *ret_n, struct err *e)
{
    struct packer p = { .at = out, .left = NETWORK_RECORD_MAX };
    pack_u32(&p, r->id);
    pack_u32(&p, r->outcome);
    pack_u32(&p, r->protocol);
    pack_u32(&p, r->port);
    pack_u32(&p, r->cap);
    pack_str(&p, r->name);
    pack_bytes(&p, r->address, sizeof r->address);
    pack_u64(&p, r->start_ms);
    pack_u64(&p, r->duration_us);
    pack_u64(&p, r->bytes_in);
    pack_u64(&p, r->bytes_out);
    pack_str(&p, r->sni);
    if (p.failed)
        return err_set(e, ERR_PROTOCOL, 0, "a network record does not fit");
    *ret_n = (size_t)(p.at - out);
    return 0;
}

static int take_name(struct unpacker *u, char ret[NETWORK_NAME_MAX + 1])
{
    const char *name = unpack_str(u);
    if (!name || strlen(name) > NETWORK_NAME_MAX)
        return -1;
    for (const char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~')
            return -1;
    memcpy(ret, name, strlen(name) + 1);
    return 0;
}

int network_record_decode(const void *bytes, size_t n, struct network_record *ret, struct err *e)
{
    struct unpacker u = { .at = bytes, .left = n };
    struct network_record r = { .id = unpack_u32(&u) };
    uint32_t outcome = unpack_u32(&u), protocol = unpack_u32(&u), port = unpack_u32(&u),
             cap = unpack_u32(&u);
    int failed = take_name(&u, r.name);
    size_t n_address = 0;
    const char *address = unpack_bytes(&u, &n_address);
    r.start_ms = unpack_u64(&u);
    r.duration_us = unpack_u64(&u);
    r.bytes_in = unpack_u64(&u);
    r.bytes_out = unpack_u64(&u);
    failed |= take_name(&u, r.sni);
    if (unpack_end(&u, "network record", e))
        return -1;
    if (failed || outcome >= NETWORK_OUTCOME_COUNT_ || protocol >= NETWORK_PROTOCOL_COUNT_ ||
        port > UINT16_MAX || cap > NETWORK_CAP_NONE || !address || n_address != sizeof r.address)
        return err_set(e, ERR_PROTOCOL, 0, "a network record is malformed");
    memcpy(r.address, address, n_address);
    r.outcome = (enum network_outcome)outcome;
    r.protocol = (enum network_protocol)protocol;
    r.port = (uint16_t)port;
    r.cap = (enum network_cap)cap;
    *ret = r;
    return 0;
}

/* ---- the log ---- */

void network_log_done(struct network_log *log)
{
    free(log->v);
    *log = (struct network_log){ 0 };
}

/* A record that the new one continues or repeats. */
static struct network_record *find(struct network_log *log, const struct network_record *r)
{
    for (size_t i = log->n; i-- > 0;) {
        struct network_record *old = &log->v[i];
        if (r->id != 0 && old->id == r->id)
            return old;
        if (r->id == 0 && old->id == 0 && old->outcome == r->outcome && old->port == r->port &&
            strcasecmp(old->name, r->name) == 0)
            return old;
    }
    return NULL;
}

static struct network_record *append(struct network_log *log)
{
    if (log->n == NETWORK_LOG_MAX)
        return NULL;
    if (log->n == log->room) {
        size_t room = log->room ? log->room * 2 : 8;
        if (room > NETWORK_LOG_MAX)
            room = NETWORK_LOG_MAX;
        struct network_record *grown = reallocarray(log->v, room, sizeof *grown);
        if (!grown)
            return NULL;
        log->v = grown;
        log->room = room;
    }
    return &log->v[log->n++];
}

static void count(struct network_log *log, const struct network_record *r)
{
    log->outcomes[r->outcome]++;
    log->connections += r->id != 0;
    log->bytes_in += r->bytes_in;
    log->bytes_out += r->bytes_out;
    if (r->outcome == NETWORK_LIMIT && r->cap < NETWORK_CAP_COUNT)
        log->caps_hit |= 1U << r->cap;
}

void network_log_add(struct network_log *log, const struct network_record *r)
{
    bool is_final = r->outcome != NETWORK_OPEN;
    struct network_record *place = find(log, r);
    if (is_final)
        count(log, r);
    if (place && place->id == 0)
        return;
    if (!place)
        place = append(log);
    if (place)
        *place = *r;
    else
        log->omitted += is_final;
}

uint64_t network_log_denials(const struct network_log *log)
{
    uint64_t n = 0;
    for (int i = 0; i < NETWORK_OUTCOME_COUNT_; i++)
        if (outcomes[i].denied)
            n += log->outcomes[i];
    return n;
}
