/* api/templates/template_build.h — from the setup of a template to its image. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"
#include "session/session.h"

struct template_build;
/* Borrowed, but for the callback and its owner; the body is kept by reference. */
struct template_order {
    struct api *api;
    const struct api_identity *who; /* that makes the template */
    json_t *body;                   /* of POST /v1/templates */
    /* The image that the new one takes the place of: same name, owner and time of creation. NULL: a
     * new template. */
    const struct saved_image *old;
    /* e NULL: b->save.saved is there. b is freed afterwards. */
    void (*on_done)(struct template_build *b, const struct err *e, const char *field);
    void *owner;
};

/* The session that runs the setup, and the image that it leaves. */
struct template_build {
    struct session_watch watch;
    struct run_watch run_watch;
    struct session_capture capture;
    struct image_save save;
    struct api_call request; /* of nobody: it has api, who and body */
    struct session *session; /* NULL: it is over */
    bool submitted, ended;
    void (*on_done)(struct template_build *b, const struct err *e, const char *field);
    void *owner;
};
/* on_done() follows. ret, which may be NULL, is valid until then. ret_field (size >= 128) gets the
 * name of a field that is refused. */
[[nodiscard]] int template_build(const struct template_order *order, struct template_build **ret,
                                 char *ret_field, size_t field_size, struct err *e);
/* on_done() follows with an error, unless the image is being written. */
void template_build_stop(struct template_build *b, const char *reason);
