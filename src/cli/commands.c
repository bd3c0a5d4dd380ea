/* The table of the commands, and the functions that all of them share. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/cli.h"

const struct cli_command *const commands[] = {
    &run_command,     &batch_command,     &compare_command,   &repl_command,
    &session_command, &template_command,  &kernel_command,    &mcp_command,
    &serve_command,   &history_command,   &approvals_command, &artifacts_command,
    &top_command,     &keys_command,      &audit_command,     &backup_command,
    &restore_command, &languages_command, &explain_command,   &fix_command,
    &verify_command,  &test_command,      &check_command,     &doctor_command,
    &bench_command,   &version_command,   &help_command,      NULL,
};

const struct cli_command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

int cli_fail(const struct err *e)
{
    (void)fprintf(stderr, "belljar: %s\n", e->text);
    return err_exit_status(e->code);
}

void cli_signals(sigset_t *ret_set)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
    sigemptyset(ret_set);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(ret_set, ending[i]);
    }
}
