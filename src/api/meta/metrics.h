/* api/meta/metrics.h — the numbers of the service in Prometheus' text format. */
#pragma once

#include "api/kernel/api.h"

[[nodiscard]] int metrics_write(const struct api *api, struct buf *b, struct err *e);
