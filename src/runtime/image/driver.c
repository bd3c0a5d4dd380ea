/* runtime/image/driver.c — the driver of embryos that will become an image of a session; see
 * image/image.h. The interpreter is loaded and linked, and has run nothing: there is little memory to
 * give up. Everything else comes out of the image.
 * Runs in: a zygote, and each embryo forked from it. */
#include <stdint.h>

#include "guests/session/images.h"
#include "runtime/plain/proc_environ.h"
#include "zygote/driver.h"

/* The program in the image takes over the channel at its number, and its count of frames. */
static int become(void *context, int fd, const struct image_bases *bases, char why[IMAGE_WHY])
{
    const struct channel *c = context;
    image_become(fd, bases, (uint64_t)c->fd << 32 | c->seq, why);
    return -1;
}

static void on_become(void *context, const struct message *m)
{
    static const struct image_ops ops = { .become = become };
    images_on_become(context, m, &ops, context);
}

int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **))
{
    static const struct driver_hooks none = { 0 };
    static const struct channel_handler handlers[] = { { FRAME_BECOME, on_become } };
    struct driver_job job;
    struct channel c;
    (void)argc;
    (void)argv;
    (void)envp;
    (void)real_main;
    proc_environ_hide_boot();
    driver_serve(&none, &job);
    if (channel_open(&c))
        return 1;
    images_send_ready(&c, "");
    return channel_serve(&c, handlers, 1, &c);
}
