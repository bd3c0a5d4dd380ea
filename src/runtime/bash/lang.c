#include "runtime/language.h"

static const struct warm warm[] = {
    /* The command line of most jobs: what /proc shows of it cannot be changed later. */
    { .zygote = { .name = "bash",
                  .files = (const char *const[]){ "belljar-plain.so", NULL },
                  .argv = (const char *const[]){ "/bin/bash", "main.sh", NULL },
                  .env = (const char *const[]){ NULL } } },
    { .imports = NULL },
};

extern const struct language language_bash;
const struct language language_bash = {
    .name = "bash",
    .aliases = (const char *const[]){ "shell", "sh", NULL },
    .extensions = (const char *const[]){ ".sh", ".bash", NULL },
    .main_file = "main.sh",
    .command = (const char *const[]){ "/bin/bash", FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/bin/bash", "--version", NULL },
    .install = "apt-get install bash",
    .warm = warm,
    .cold_env = (const char *const[]){ "LD_*", NULL },
    .hints = (const char *const[]){ "^echo ", "^fi",     "^done", "^then",    "^if [",    "$(",
                                    "${",     "^set -",  "^cd ",  "^ls",      "^grep ",   "^cat ",
                                    "; do",   "; then",  "^esac", "^export ", "^printf ", "^mkdir ",
                                    "^rm ",   "^sleep ", NULL },
};
