#include "examiner/exchange.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/clock.h"
#include "examiner/reader.h"

void exchange_done(struct exchange *x)
{
    fd_close(&x->fd);
    buf_done(&x->received);
}

static bool later(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static enum exchange_state send_question(struct exchange *x)
{
    while (x->sent < x->question->len) {
        ssize_t n = send(x->fd, x->question->data + x->sent, x->question->len - x->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0)
            return later() ? EXCHANGE_SENDING : EXCHANGE_LOST;
        x->sent += (size_t)n;
    }
    return EXCHANGE_WAITING;
}

/* The reader waits for this byte, so there is room for it. */
static bool answer_module(struct exchange *x, const char *name, size_t n)
{
    char module[FRAME_MODULE_MAX + 1] = "";
    if (n > FRAME_MODULE_MAX || ++x->modules_asked > FRAME_MODULES_MAX || !x->modules.language)
        return false;
    memcpy(module, name, n);
    char exists = module_available(&x->modules, module) ? 1 : 0;
    return send(x->fd, &exists, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* Takes one frame from the received bytes, if it is complete. */
static enum exchange_state take_frame(struct exchange *x, bool *ret_taken)
{
    struct reader_frame head;
    struct buf *b = &x->received;
    *ret_taken = false;
    if (b->len < sizeof head)
        return EXCHANGE_WAITING;
    memcpy(&head, b->data, sizeof head);
    if (head.length > (head.kind == FRAME_ANSWER ? ANSWER_MAX : FRAME_MODULE_MAX))
        return EXCHANGE_LOST;
    if (b->len - sizeof head < head.length)
        return EXCHANGE_WAITING;
    const char *bytes = b->data + sizeof head;
    if (head.kind == FRAME_ANSWER)
        return b->len - sizeof head == head.length ? EXCHANGE_RECEIVED : EXCHANGE_LOST;
    if (head.kind != FRAME_MODULE || !answer_module(x, bytes, head.length))
        return EXCHANGE_LOST;
    b->len -= sizeof head + head.length;
    memmove(b->data, bytes + head.length, b->len);
    *ret_taken = true;
    return EXCHANGE_WAITING;
}

static enum exchange_state receive(struct exchange *x)
{
    enum { STEP = 64 << 10 };
    struct err e;
    for (;;) {
        bool taken = true;
        while (taken) {
            enum exchange_state state = take_frame(x, &taken);
            if (state != EXCHANGE_WAITING)
                return state;
        }
        if (buf_reserve(&x->received, STEP, &e))
            return EXCHANGE_LOST;
        ssize_t n = recv(x->fd, x->received.data + x->received.len, STEP, MSG_DONTWAIT);
        if (n < 0 && later())
            return EXCHANGE_WAITING;
        if (n <= 0)
            return EXCHANGE_LOST;
        x->received.len += (size_t)n;
    }
}

enum exchange_state exchange_step(struct exchange *x)
{
    enum exchange_state state = send_question(x);
    return state == EXCHANGE_WAITING ? receive(x) : state;
}

bool exchange_answer(const struct exchange *x, struct answer *ret)
{
    const size_t head = sizeof(struct reader_frame);
    struct err e;
    return answer_unpack(x->received.data + head, x->received.len - head, x->id, ret, &e) == 0;
}

bool exchange_run(int fd, uint64_t id, const struct buf *question, const struct modules *modules,
                  struct answer *ret)
{
    struct exchange x = { .fd = fd, .id = id, .question = question, .modules = *modules };
    uint64_t deadline = clock_ms() + EXCHANGE_COMMAND_MS;
    enum exchange_state state;
    for (;;) {
        uint64_t now = clock_ms();
        state = exchange_step(&x);
        if (state == EXCHANGE_RECEIVED || state == EXCHANGE_LOST || now >= deadline)
            break;
        struct pollfd p = { .fd = fd, .events = state == EXCHANGE_SENDING ? POLLOUT : POLLIN };
        (void)poll(&p, 1, (int)(deadline - now));
    }
    bool answered = state == EXCHANGE_RECEIVED && exchange_answer(&x, ret);
    exchange_done(&x);
    return answered;
}
