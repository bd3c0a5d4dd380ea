#include "runtime/language.h"

extern const struct language language_zsh;
const struct language language_zsh = {
    .name = "zsh",
    .aliases = (const char *const[]){ NULL },
    .extensions = (const char *const[]){ ".zsh", NULL },
    .main_file = "main.zsh",
    .command = (const char *const[]){ "/usr/bin/zsh", FILE_ARGUMENT, NULL },
    .shell = true,
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/zsh", "--version", NULL },
    .install = "apt-get install zsh",
    .hints = (const char *const[]){ "<bash",        "!^setopt ",  "!^autoload ",  "!^zmodload ",
                                    "!^print -",    "!${(",       "!^typeset -A", "!^typeset -a",
                                    "!^typeset -i", "!^emulate ", "!^zparseopts", "!^zmv",
                                    "!^unsetopt ",  "!(N)",       "!^zstyle ",    "!^bindkey ",
                                    "!^local -a",   "^print ",    "!(.om",        NULL },
};
