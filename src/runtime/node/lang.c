/* runtime/node/lang.c — the declaration of node; see runtime/language.h. Pure data. */
#include "runtime/language.h"

static const struct warm warm[] = {
    /* The command line of most jobs, because Node reads and keeps it while it boots. */
    { .zygote = { .name = "node",
                  .files = WORDS("belljar-node.so"),
                  .argv = WORDS("/usr/bin/node", "main.js"),
                  .env = NO_WORDS } },
    /* The name of the main file is relative: only then Node calls getcwd(), where the driver waits. */
    { .zygote = { .name = "node-session",
                  .files = WORDS("belljar-node.so"),
                  .argv = WORDS("/usr/bin/node", "-r", "/opt/belljar/node/session.js", "main.js"),
                  .env = NO_WORDS },
      .large = true,
      .session = true },
    { .zygote = { .name = "node-image",
                  .files = WORDS("belljar-image.so"),
                  .argv = WORDS("/usr/bin/node", "-r", "/opt/belljar/node/session.js", "main.js"),
                  .env = NO_WORDS },
      .session = true,
      .image = true },
    { .imports = NULL },
};

DECLARE_LANGUAGE(node) = {
    NAMED("javascript", "main.js", WORDS(".js", ".mjs", ".cjs"), WORDS("js", "node", "nodejs")),
    .command = WORDS("/usr/bin/node", FILE_ARGUMENT),
    .session = WORDS("/usr/bin/node", "-r", "{guest}/node/session.js",
                     "{guest}/node/session_begin.js"),
    .forks = true,
    .profile = WORDS("/usr/bin/node", "-r", "{guest}/node/profile.js", FILE_ARGUMENT),
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/node", "--version"),
    .install = "apt-get install nodejs",
    .warm = warm,
    .cold_env = WORDS("NODE_*", "UV_*", "HOME", "TZ", "LANG", "LANGUAGE", "LC_*", "OPENSSL_*",
                      "SSL_CERT_*", "ICU_*", "LD_*", "MALLOC_*", "GLIBC_TUNABLES"),
    .prompts = WORDS("> ", "... "),
    .hints = WORDS(
        "^const ", "^let ", "^var ", "^function ", "^async ", "^async function ", "^export ",
        "!^export default ", "!^import {", "!^import fs ", "!^module.exports", "!^const {",
        "!^const [", "!^function (", "!^function* ", "!^throw ", "^return ", "!console.",
        "!require(\"", "!require('", "!process.stdin", "!process.stdout", "!process.exit",
        "!process.argv", "!process.env", "=>", "=> {", "!(() =>", "!() => ",
        "!===", "!!==", "!new Promise", "!Promise.", "await ", "!JSON.parse", "!JSON.stringify",
        "!document.", "!window.", "this.", "!constructor(", "!.map((", "!.forEach(", "!.filter(",
        "!.reduce(", "!.then(", "!.length", ".push(", ".join(", "!} from '", "!} from \"",
        "!function () {", "!function() {", "!= function", "!Math.", "!setTimeout(", "!setInterval(",
        "!throw new ", "!new Error(", "!new Map(", "!new Set(", "!new Date(", "!new Array(",
        "!Object.", "!Array.", "!Number(", "!parseInt(", "!parseFloat(", "String(", "!fetch(",
        "!undefined", "!typeof ", "!for (let ", "!for (const ", "!for (var ", "!.prototype.",
        "!...args", " of ", "!catch (e)", "!catch (err)", "!catch (error)", "~);", "~};", "|//",
        "-^print(", "-^fn ", "-^pub fn ", "-^impl ", "-let mut ", "-|end", "-^def ",
        "-~):", "-^#include", "-$this", "-echo ", "-$_", "-my $", "-^local ", "-println!", "-^int ",
        "-^public ", "-^private ", "-System.", "-std::", "-^func ", "- := ", "-^use ", "-^package ",
        "-^String ", "-^final ", "-^for (int ", "!`${", "${"),
};
