/* service/key_file.h — the file with the keys of the operator, for images. Runs in: supervisor, which
 * opens it and reads no byte of it: the keeper gets the descriptor. */
#pragma once

#include "base/err.h"

/* path "": none, and *ret is -1. Refuses a file that others could read or write. */
[[nodiscard]] int key_file_open(const char *path, int *ret, struct err *e);
