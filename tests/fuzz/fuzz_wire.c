/* Bytes of a hostile peer, through a real socket, to every reader of messages. Every string that
 * was read is touched, and a message that is packed again reads the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t touch(char *const *list)
{
    size_t n = 0;
    for (; list && *list; list++)
        n += strlen(*list);
    return n;
}

static void read_spawn(const struct wire_message *m)
{
    scoped(wire_spawn) s = { 0 };
    struct err e;
    if (wire_read_spawn(m, &s, &e))
        return;
    if (touch(s.job.argv) + touch(s.job.envp) + touch(s.job.outputs) + touch(s.job.executes) +
            touch(s.job.reads) >
        sizeof m->bytes)
        abort();
}

static void read_any(const struct wire_message *m)
{
    struct err e;
    struct wire_hello hello;
    struct wire_kill k;
    struct wire_ended ended;
    struct wire_started started;
    struct pool_targets targets;
    struct wire_seal seal;
    struct wire_pools pools;
    static struct wire_samples samples;
    read_spawn(m);
    if (wire_read_samples(m, &samples, &e) == 0 && samples.samples.n > SAMPLES_MAX)
        abort();
    if (wire_read_hello(m, &hello, &e) == 0 &&
        memchr(hello.err.text, '\0', sizeof hello.err.text) == NULL)
        abort();
    if (wire_read_kill(m, &k, &e) == 0 && (unsigned)k.reason >= END_REASON_COUNT_)
        abort();
    if (wire_read_ended(m, &ended, &e) == 0 && (unsigned)ended.evidence.reason >= END_REASON_COUNT_)
        abort();
    if (wire_read_started(m, &started, &e) == 0 && (unsigned)started.start >= START_COUNT_)
        abort();
    (void)!wire_read_targets(m, &targets, &e);
    uint32_t number;
    (void)!(wire_read_stopped(m, &e) | wire_read_alive(m, &number, &e));
    struct wire_cell cell;
    struct wire_cell_end cell_end;
    uint64_t id;
    (void)!wire_read_cell(m, &cell, &e);
    (void)!wire_read_interrupt(m, &id, &e);
    (void)!wire_read_adopt(m, &id, &e);
    static struct wire_network network;
    struct wire_net net;
    struct wire_net_closed closed;
    if (wire_read_network(m, &network, &e) == 0 && network.plumbing.n > PLUMBING_LISTENERS_MAX)
        abort();
    struct wire_plumbed plumbed;
    (void)!wire_read_porter(m, &number, &e);
    (void)!wire_read_porter_lost(m, &number, &e);
    if (wire_read_plumb(m, &network, &e) == 0 && network.plumbing.n > PLUMBING_LISTENERS_MAX)
        abort();
    (void)!wire_read_plumbed(m, &plumbed, &e);
    for (int type = WIRE_NET_OPEN; type <= WIRE_NET_RECORD; type++)
        if (wire_read_net(m, (enum wire_type)type, &net, &e) == 0 && net.n > m->len)
            abort();
    (void)!wire_read_net_closed(m, &closed, &e);
    struct wire_keep keep;
    struct wire_kept kept;
    if (wire_read_keep(m, &keep, &e) == 0 && keep.note_len > KEEP_NOTE_MAX)
        abort();
    if (wire_read_kept(m, &kept, &e) == 0 && kept.note_len > KEEP_NOTE_MAX)
        abort();
    if (wire_read_cell_end(m, &cell_end, &e) == 0 &&
        (unsigned)cell_end.usage.interrupted >= CELL_INTERRUPTS_)
        abort();
    if (wire_read_seal(m, &seal, &e) == 0 && seal.seq == 0)
        abort();
    if (wire_read_pools(m, &pools, &e) == 0 && pools.kinds > ZYGOTE_KINDS_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wire_message m;
    struct err e;
    int fds[2];
    if (size > WIRE_MAX_BYTES || wire_pair(fds, &e))
        return 0;
    /* As it comes over the socket, head and all; */
    if (send(fds[0], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size && size > 0 &&
        wire_receive(fds[1], &m, &e) > 0) {
        read_any(&m);
        wire_message_done(&m);
    }
    /* and as the body of a message whose head was good. */
    memcpy(m.bytes, data, size);
    m.len = (uint32_t)size;
    for (int type = 0; type < WIRE_TYPE_COUNT_; type++) {
        m.type = (enum wire_type)type;
        read_any(&m);
    }
    (void)close(fds[0]);
    (void)close(fds[1]);
    return 0;
}
