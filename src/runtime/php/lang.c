#include "runtime/language.h"

extern const struct language language_php;
const struct language language_php = {
    .name = "php",
    .aliases = (const char *const[]){ NULL },
    .extensions = (const char *const[]){ ".php", NULL },
    .main_file = "main.php",
    /* What Debian's settings for the command line say, whatever they were changed to: errors go to stderr and not among the
     * output, and the only limit of memory is the jar's. Output is never buffered by the command line's PHP. */
    .command = (const char *const[]){ "/usr/bin/php", "-d", "display_errors=0", "-d",
                                      "log_errors=1", "-d", "memory_limit=-1", FILE_ARGUMENT,
                                      NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/php", "--version", NULL },
    .install = "apt-get install php-cli",
    .hints = (const char *const[]){ "^^<?php", "!<?php", "!<?=", "!$this->", "!^foreach (",
                                    "!public function", "!private function", "!=> $", "!?>",
                                    "!$argv", "!^use App", "foreach (", NULL },
};
