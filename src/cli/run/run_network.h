/* cli/run/run_network.h — --allow-net, --allow-private and --inject of `belljar run`. */
#pragma once

#include "cli/run/run_arguments.h"

arg_apply run_network_add_host, run_network_add_range, run_network_set_mode, run_network_add_inject;
const char *run_network_mode_at(const void *def, size_t i);
/* Options that contradict each other. */
[[nodiscard]] int run_network_check(const struct run_arguments *o, struct err *e);
bool run_network_wanted(const struct run_arguments *o);
/* Fills `network` and `network_private`, for a run without a service. */
[[nodiscard]] int run_network_take(struct run_arguments *o, struct err *e);
