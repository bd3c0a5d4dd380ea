/* cli/cli.h — the commands, one a file, and the functions that they share. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "cli/args.h"

/* In the order of `belljar help`; NULL-terminated. */
extern const struct cli_command *const commands[];
extern const struct cli_command run_command, batch_command, compare_command, artifacts_command,
    repl_command, session_command, template_command, kernel_command, serve_command, history_command,
    keys_command, audit_command, languages_command, explain_command, verify_command, doctor_command,
    bench_command, version_command, help_command, approvals_command, top_command, mcp_command,
    test_command, fix_command, backup_command, restore_command, check_command;

/* NULL: there is no such command. */
const struct cli_command *command_find(const char *name);
/* The signals that end a run, without the ones that our caller ignores (nohup, a job in the
 * background). */
void cli_signals(sigset_t *ret_set);

/* Prints "belljar: the error" on stderr; returns the exit status that belongs to the error. */
int cli_fail(const struct err *e);
