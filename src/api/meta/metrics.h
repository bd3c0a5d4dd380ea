/* api/meta/metrics.h — metrics of the service in the text format of Prometheus. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

[[nodiscard]] int metrics_write(const struct api *api, struct buf *b, struct err *e);
