/* session/templates.h — templates: images that runs and sessions begin in.
 * Runs in: keeper, on its loop.
 *
 * A template is an image of kind "template" (session/images.h) with a name that is unique among the
 * templates of its key. A run from a template waits for its turn as every run does. Then it gets a
 * session of its own: a program that becomes the image and runs the code as its only cell.
 *
 * An image fits one version of the interpreter, its libraries and the kernel. A template whose image
 * no program becomes any longer is made anew, and everybody who uses it waits for that. */
#pragma once

#include "session/session.h"

#define TEMPLATE_KIND "template"

/* An owner is a requester (engine/run.h): a new key of an old name is another one. */
/* The template of this name that the owner may use: its own, otherwise the only one of this name that
 * another key shares. "KEY/NAME" names one of a key. NULL: there is none, or *ret_n of them. */
struct saved_image *template_find(const struct sessions *all, const char *owner, const char *name,
                                  unsigned *ret_n);
bool template_is_shared(const struct saved_image *saved);
bool template_is_of(const struct saved_image *saved, const char *owner);
/* Makes templates anew. */
struct template_maker {
    /* The image does not fit, or was damaged. template_rebuilt() follows, not within this call. */
    int (*rebuild)(struct template_maker *m, const struct saved_image *saved, const char *why,
                   struct err *e);
};
void templates_set_maker(struct sessions *all, struct template_maker *m);
/* The new image has the name of the old one, which may be gone. e NULL: it is there. */
void template_rebuilt(struct sessions *all, const char *id, const struct saved_image *new,
                      const struct err *e);

/* A wait for a template that is made anew. */
struct template_wait {
    /* e NULL: the new image is there. The owner may free the wait now. */
    void (*on_done)(struct template_wait *w, const struct saved_image *new, const struct err *e);
    char id[ID_SIZE]; /* private, as the rest */
    struct template_wait *next;
};
/* One request makes it; the others wait for the same. on_done() follows. */
[[nodiscard]] int template_await(struct sessions *all, const char *id, const char *why,
                                 struct template_wait *w, struct err *e);
/* A session without a row, whose program becomes the image. The watch hears of its state: idle, or
 * ended with is_unfit. Takes over the spec. */
[[nodiscard]] int template_try(struct sessions *all, struct session_spec *spec,
                               struct session_watch *w, struct session **ret, struct err *e);

/* Whether runs of the language have arguments. A program of SQL has values in their place, and a cell
 * has none. */
bool run_inputs_have_args(const struct language *l);
/* The number of programs that became a template and wait for a run. */
unsigned templates_spares(const struct sessions *all);
/* No program waits for a run from now on. */
void templates_stop(struct sessions *all);

/* The host of one run from this template, for its spec: run_spec_done() gives it back. */
[[nodiscard]] int template_host(struct sessions *all, const struct saved_image *saved,
                                struct run_host **ret, struct err *e);
