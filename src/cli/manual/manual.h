/* cli/manual/manual.h — --help and the man pages, from the tables of the commands.
 * Runs in: main. */
#pragma once

#include <stdio.h>

#include "cli/args.h"
#include "cli/manual/page.h"

/* `belljar help`: the list of the commands. */
void manual_overview(FILE *out);
/* `belljar COMMAND --help`, on stdout. */
void manual_help(const struct cli_command *c);
/* A section with every setting of the service. */
void manual_settings(struct page *p);
/* The man page of this name in roff, on stdout: "belljar", a command, or "belljar.conf". */
[[nodiscard]] int manual_page(const char *name, struct err *e);
