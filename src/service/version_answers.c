#include "service/version_answers.h"

#include <errno.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/log.h"

static void on_closed(uv_handle_t *handle)
{
    ((struct version_answer *)handle->data)->closing = false;
}

static void close_answer(struct version_answer *a)
{
    a->closing = true;
    uv_close((uv_handle_t *)&a->poll, on_closed);
    fd_close(&a->fd);
}

static void finish(struct version_answer *a)
{
    char version[VERSION_SIZE];
    engine_set_version_pending(a->engine, a->language, false);
    if (version_cut(a->text, a->len, version, sizeof version))
        engine_set_version(a->engine, a->language, version);
    else
        log_event(LOG_WARN, "language.no_version", "language=%s", a->language->name);
    close_answer(a);
}

static void on_text(uv_poll_t *poll, int status, int events)
{
    struct version_answer *a = poll->data;
    (void)status;
    (void)events;
    ssize_t n = read(a->fd, a->text + a->len, sizeof a->text - a->len);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    a->len += n > 0 ? (size_t)n : 0;
    if (n <= 0 || a->len == sizeof a->text)
        finish(a);
}

void version_answers_start(struct version_answers *all, uv_loop_t *loop, struct engine *engine,
                           const int *fds)
{
    for (size_t i = 0; i < LANGUAGES_MAX; i++)
        all->list[i].fd = -1;
    for (size_t i = 0; languages[i]; i++)
        if (fds[i] >= 0)
            version_answers_add(all, loop, engine, i, fds[i]);
}

void version_answers_add(struct version_answers *all, uv_loop_t *loop, struct engine *engine,
                         size_t index, int fd)
{
    struct version_answer *a = &all->list[index];
    if (a->fd >= 0 || a->closing) { /* the earlier answer counts */
        fd_close(&fd);
        return;
    }
    *a = (struct version_answer){ .engine = engine, .language = languages[index], .fd = fd };
    a->poll.data = a;
    if (uv_poll_init(loop, &a->poll, a->fd) != 0) {
        fd_close(&a->fd);
        return;
    }
    engine_set_version_pending(engine, a->language, true);
    if (uv_poll_start(&a->poll, UV_READABLE, on_text) != 0)
        finish(a);
}

void version_answers_stop(struct version_answers *all)
{
    for (size_t i = 0; i < LANGUAGES_MAX; i++)
        if (all->list[i].fd >= 0)
            close_answer(&all->list[i]);
}
