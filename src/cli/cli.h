/* cli/cli.h — one subcommand a file; each is a row in main.c's table.
 * A command gets its own name as argv[0] and returns the exit status. */
#pragma once

#include <signal.h>

#include "base/err.h"

int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_keys(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_languages(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* The signals that end a run, without those our caller had us ignore (nohup, jobs in the background). */
void cli_signals(sigset_t *ret_set);

/* "belljar: what went wrong" on stderr; returns the exit status that goes with the error. */
int cli_fail(const struct err *e);
