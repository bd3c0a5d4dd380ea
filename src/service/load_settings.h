/* service/load_settings.h — the settings of a service from all of their sources. Runs in:
 * supervisor. */
#pragma once

#include "base/err.h"
#include "service/supervisor.h"
#include "settings/settings.h"

/* The environment first, then the file, then the command line: the last one wins. */
[[nodiscard]] int service_load_settings(const struct service_options *o, struct settings *ret,
                                        struct err *e);
