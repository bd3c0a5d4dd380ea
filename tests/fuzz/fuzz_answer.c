/* Answers of a reader that a guest has taken over: as bytes, and as frames on its socket. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "examiner/answer.h"
#include "examiner/exchange.h"
#include "run/diagnosis_json.h"
#include "run/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that the keeper does with an answer. */
static void use(const struct answer *a)
{
    scoped(buf) text = { 0 }, packed = { 0 };
    scoped(answer) again = { 0 };
    const struct isolation here = { .cgroup_version = 1 };
    struct err e;
    json_t *profile = a->profile ? profile_make(a->profile, NULL, &here) : NULL;
    json_t *diagnosis = a->diagnosis ? diagnosis_json(a->diagnosis) : NULL;
    if (a->diagnosis && diagnosis_text(a->diagnosis, true, 60, &text, &e))
        abort();
    if (answer_pack(a, &packed, &e) || answer_unpack(packed.data, packed.len, a->id, &again, &e))
        abort(); /* an answer that was accepted is accepted again */
    json_decref(profile);
    json_decref(diagnosis);
}

static void read_bytes(const uint8_t *data, size_t size)
{
    scoped(answer) a = { 0 };
    struct err e;
    uint64_t id = 0;
    memcpy(&id, data, size < sizeof id ? size : sizeof id);
    if (answer_unpack((const char *)data, size, id, &a, &e) == 0)
        use(&a);
}

static void read_frames(const uint8_t *data, size_t size)
{
    static const struct buf no_question;
    int fds[2];
    scoped(answer) a = { 0 };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
        abort();
    struct exchange x = { .fd = fds[0],
                          .question = &no_question,
                          .modules = { .language = "python", .version = "3.11" } };
    (void)!write(fds[1], data, size);
    (void)shutdown(fds[1], SHUT_WR);
    enum exchange_state state = exchange_step(&x);
    if (state == EXCHANGE_SENDING)
        abort(); /* there was nothing to send */
    if (state == EXCHANGE_RECEIVED && exchange_answer(&x, &a))
        use(&a);
    exchange_done(&x);
    (void)close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'F')
        read_frames(data + 1, size - 1);
    else
        read_bytes(data, size);
    return 0;
}
