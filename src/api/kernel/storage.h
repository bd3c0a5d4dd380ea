/* api/kernel/storage.h — whether there is room for new work: on the disk of the state directory,
 * and in descriptors. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* ERR_STORAGE if less than storage.min_free is free. The disk is asked at most ten times a second. */
[[nodiscard]] int storage_check(struct api *api, struct err *e);
/* ERR_UNAVAILABLE if this process has nearly as many open files as it may have. */
[[nodiscard]] int storage_check_open_files(struct err *e);
