/* api/templates/template_rebuild.h — templates that do not fit any longer are made anew: when they are
 * used, and in the background after the start of the service. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* Looks at all templates a moment after the loop runs. */
[[nodiscard]] int template_rebuild_open(struct api *api, struct err *e);
void template_rebuild_close(struct api *api);
