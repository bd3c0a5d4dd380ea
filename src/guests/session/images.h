/* guests/session/images.h — the two requests about images, for the session programs in C. Runs in: a
 * jar.
 *
 * An image of every language has the same parts: the first page, the files of /sandbox and /tmp
 * (image/files.h), then the state, which is the memory of a process (image/image.h) or the program's
 * own. The first page is written last. */
#pragma once

#include "guests/session/channel.h"
#include "image/files.h"

struct image_target {
    const int *fds; /* all that came with the request: the two below, and earlier images */
    size_t n_fds;
    int fd, report; /* the file, and the pipe for the line "ok BYTES …" or "error WHY" */
    struct image_bases bases;
    uint64_t at;   /* the offset behind the files */
    uint64_t room; /* for the whole image */
};

enum image_outcome { IMAGE_FAILED = -1, IMAGE_WRITTEN, IMAGE_BECAME };

struct image_ops {
    const char *version; /* for the host, when the program is ready */
    /* Names the things that an image would not carry, without the descriptors of the message. */
    int (*look)(void *context, const struct message *m, struct image_losses *losses,
                char why[IMAGE_WHY]);
    /* Nothing of the session changes from pause() to resume(), which is called after every look(),
     * also without a pause(). Both may be NULL. */
    int (*pause)(void *context, char why[IMAGE_WHY]);
    void (*resume)(void *context);
    /* Writes the state, or begins to. IMAGE_BECAME: this is a process that became the image. */
    enum image_outcome (*write)(void *context, const struct image_target *target,
                                char why[IMAGE_WHY]);
    /* Before the files of the image take the place of ours. May be NULL. */
    void (*leave)(void *context);
    /* Returns 0 if another process became the image, and not at all if this one did. */
    int (*become)(void *context, int fd, const struct image_bases *bases, char why[IMAGE_WHY]);
    bool stands_alone;         /* its images need no earlier ones */
    const char *const *places; /* folders of its own, which every image has; may be NULL */
    const char *hidden;        /* losses that begin so are no losses; may be NULL */
};

/* The program waits for requests. */
void images_send_ready(struct channel *c, const char *version);
void images_on_write(struct channel *c, const struct message *m, const struct image_ops *ops,
                     void *context);
void images_on_become(struct channel *c, const struct message *m, const struct image_ops *ops,
                      void *context);
