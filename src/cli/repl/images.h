/* cli/repl/images.h — whether the terminal shows images. Runs in: main. Pure functions.
 *
 * IMAGES-1 No image is sent to a terminal that may not understand it. The environment is only a
 *          hint, because a terminal that is started in another one inherits it. A terminal that the
 *          environment names is asked for its own name, in sequences that other terminals ignore,
 *          and for its attributes, and its answer decides. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "cli/repl/talker.h"

/* The protocol that the environment hints at. */
enum image_protocol images_hinted(void);

/* Asks for the name of the terminal, and then for its attributes, which every terminal tells. */
extern const char images_question[];
/* Removes the answer from bytes of the terminal; the others were typed. True: the answer is
 * complete, and *ret is the protocol of the terminal. */
bool images_answered(struct buf *bytes, enum image_protocol *ret);
