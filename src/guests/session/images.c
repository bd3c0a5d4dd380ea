#include "guests/session/images.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "guests/sql/cell.h"

enum { LOSSES_MAX = 100, LOSS_BYTES = 300 };

struct loss_list {
    struct image_losses losses;
    const char *hidden;
    struct buf json; /* the names, with commas */
    unsigned n;
};

static void add_loss(struct image_losses *l, const char *name)
{
    struct loss_list *list = (struct loss_list *)l;
    struct err e;
    if (list->n >= LOSSES_MAX ||
        (list->hidden && strncmp(name, list->hidden, strlen(list->hidden)) == 0))
        return;
    size_t before = list->json.len, n = strnlen(name, LOSS_BYTES);
    if ((list->n > 0 && buf_add(&list->json, ",", 1, &e)) ||
        cell_add_json_text(&list->json, name, n, &e))
        list->json.len = before;
    else
        list->n++;
}

static void answer_text(struct channel *c, uint32_t request, const char *key, const char *text)
{
    struct err e;
    scoped(buf) json = { 0 };
    if (buf_addf(&json, &e, "{\"%s\":", key) || cell_add_json_text(&json, text, strlen(text), &e) ||
        buf_add(&json, "}", 1, &e))
        abort(); /* no memory */
    channel_answer(c, request, &json);
}

void images_send_ready(struct channel *c, const char *version)
{
    scoped(buf) ready = { 0 };
    field_add_text(&ready, TAG_VERSION, version);
    channel_send(c, 0, FRAME_READY, &ready);
}

static void take_bases(const struct message *m, size_t from, struct image_bases *ret)
{
    for (size_t i = from; i < m->n_fds && ret->n < IMAGE_BASES_MAX; i++)
        ret->fds[ret->n++] = m->fds[i];
}

/* -1: *why has a reason. */
static enum image_outcome write_image(const struct message *m, const struct image_ops *ops,
                                      void *context, struct loss_list *list, uint64_t *ret_bytes,
                                      char why[IMAGE_WHY])
{
    struct image_target target = {
        .fds = m->fds, .n_fds = m->n_fds, .fd = m->fds[0], .report = m->fds[1], .at = IMAGE_FRONT
    };
    autofree char *room = message_text(m, TAG_ROOM, NULL);
    const char *const *places = message_has_flag(m, "files") ? image_places : ops->places;
    target.room = room ? strtoull(room, NULL, 10) : 0;
    if (!ops->stands_alone)
        take_bases(m, 2, &target.bases);
    int failed = places && image_files_pack(target.fd, &target.bases, places, target.room,
                                            &list->losses, &target.at, why);
    *ret_bytes = target.at - IMAGE_FRONT;
    return failed ? IMAGE_FAILED : ops->write(context, &target, why);
}

void images_on_write(struct channel *c, const struct message *m, const struct image_ops *ops,
                     void *context)
{
    struct err e;
    char why[IMAGE_WHY] = "the request came without its descriptors";
    uint64_t began_us = clock_us(), files_bytes = 0;
    struct loss_list list = { .losses.add = add_loss, .hidden = ops->hidden };
    scoped(buf) json = { 0 };
    int failed = m->n_fds < 2 || ops->look(context, m, &list.losses, why);
    if (!failed && list.n > 0 && message_has_flag(m, "strict")) {
        if (ops->resume)
            ops->resume(context);
        if (buf_addf(&json, &e, "{\"refused\":[%s]}", buf_str(&list.json)) == 0)
            channel_answer(c, m->request, &json);
        buf_done(&list.json);
        return;
    }
    if (!failed && ops->pause)
        failed = ops->pause(context, why);
    enum image_outcome got = failed ? IMAGE_FAILED
                                    : write_image(m, ops, context, &list, &files_bytes, why);
    if (got == IMAGE_BECAME) { /* the descriptors of the message were another process's */
        buf_done(&list.json);
        images_send_ready(c, ops->version);
        return;
    }
    if (ops->resume)
        ops->resume(context);
    if (got == IMAGE_FAILED)
        answer_text(c, m->request, "failed", why);
    else if (buf_addf(&json, &e, "{\"not_carried\":[%s],\"pause_us\":%llu,\"files_bytes\":%llu}",
                      buf_str(&list.json), (unsigned long long)(clock_us() - began_us),
                      (unsigned long long)files_bytes) == 0)
        channel_answer(c, m->request, &json);
    buf_done(&list.json);
}

void images_on_become(struct channel *c, const struct message *m, const struct image_ops *ops,
                      void *context)
{
    char why[IMAGE_WHY] = "the request came without its descriptor";
    const char *const *places = message_has_flag(m, "files") ? image_places : ops->places;
    autoclose int here = open(".", O_PATH | O_CLOEXEC);
    struct image_bases bases = { 0 };
    int failed = m->n_fds < 1;
    take_bases(m, 1, &bases);
    if (!failed && ops->leave)
        ops->leave(context);
    if (!failed && places)
        failed = chdir("/") < 0 || image_files_unpack(m->fds[0], &bases, places, why);
    (void)!fchdir(here);
    if (!failed)
        failed = ops->become(context, m->fds[0], &bases, why);
    if (failed)
        answer_text(c, m->request, "failed", why);
    else
        images_send_ready(c, ops->version);
}
