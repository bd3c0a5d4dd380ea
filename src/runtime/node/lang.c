#include "runtime/language.h"

extern const struct language language_node;
const struct language language_node = {
    .name = "javascript",
    .aliases = (const char *const[]){ "js", "node", "nodejs", NULL },
    .extensions = (const char *const[]){ ".js", ".mjs", ".cjs", NULL },
    .main_file = "main.js",
    .command = (const char *const[]){ "/usr/bin/node", FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/node", "--version", NULL },
    .install = "apt-get install nodejs",
    .hints = (const char *const[]){ "^const ", "^let ", "^var ", "console.", "=>", "^function ",
                                    "require(", "^import {", " from '", "^async function ",
                                    "process.", "===", "^module.exports", "^export ", "new Promise",
                                    "await ", NULL },
};
