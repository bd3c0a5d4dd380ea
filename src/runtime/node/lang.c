#include "runtime/language.h"

static const struct warm warm[] = {
    /* The command line is that of most jobs, so that what Node takes from it is right for them. */
    { .zygote = { .name = "node",
                  .files = (const char *const[]){ "belljar-node.so", NULL },
                  .argv = (const char *const[]){ "/usr/bin/node", "main.js", NULL },
                  .env = (const char *const[]){ NULL } } },
    { .imports = NULL },
};

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
    .warm = warm,
    .cold_env = (const char *const[]){ "NODE_*", "UV_*", "HOME", "TZ", "LANG", "LANGUAGE", "LC_*",
                                       "OPENSSL_*", "SSL_CERT_*", "ICU_*", "LD_*", "MALLOC_*",
                                       "GLIBC_TUNABLES", NULL },
    .hints = (const char *const[]){ "^const ", "^let ", "^var ", "console.", "=>", "^function ",
                                    "require(", "^import {", " from '", "^async function ",
                                    "process.", "===", "^module.exports", "^export ", "new Promise",
                                    "await ", NULL },
};
