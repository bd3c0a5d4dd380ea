/* bench/svg.h — the plot: bars on a logarithmic scale, one chart below the other. Pure except
 * svg_save(). charts: [{"title", "unit", "bars": [{"label", "value", "ours"}]}], from
 * report_charts(). */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

[[nodiscard]] int svg_render(const json_t *charts, struct buf *out, struct err *e);
[[nodiscard]] int svg_save(const json_t *charts, const char *path, struct err *e);

/* The whole decades around all values: 2 * 10^*ret_low <= value <= 10^*ret_high, at least one.
 * Values of 0 or less are ignored. */
void svg_decades(const json_t *bars, int *ret_low, int *ret_high);
