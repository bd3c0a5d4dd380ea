/* session/templates.h — templates: images that runs and sessions begin in.
 * Runs in: keeper, on its loop.
 *
 * A template is an image of kind "template" (session/images.h) with a name that is unique among the
 * templates of its key. A run from a template waits for its turn as every run does. Then it gets a
 * session of its own: a program that becomes the image and runs the code as its only cell. */
#pragma once

#include "session/session.h"

#define TEMPLATE_KIND "template"

/* An owner is a requester (engine/run.h): a new key of an old name is another one. */
/* The template of this name that the owner may use: its own, otherwise a shared one. NULL: none. */
struct saved_image *template_find(const struct sessions *all, const char *owner, const char *name);
bool template_is_shared(const struct saved_image *saved);
bool template_is_of(const struct saved_image *saved, const char *owner);
/* The host of one run from this template, for its spec: run_spec_done() gives it back. */
[[nodiscard]] int template_host(struct sessions *all, const struct saved_image *saved,
                                struct run_host **ret, struct err *e);
