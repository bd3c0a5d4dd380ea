/* guests/sql/sqlite_image.h — images of guest-sqlite: its memory, with every database, transaction
 * and setting in it. Runs in: a jar. */
#pragma once

#include "guests/session/images.h"

/* Before a database is opened. The context of the functions is the channel. */
void sqlite_images_begin(void);
extern const struct image_ops sqlite_images;
