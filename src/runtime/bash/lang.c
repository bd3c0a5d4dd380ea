/* runtime/bash/lang.c — the declaration of bash; see runtime/language.h. Pure data. */
#include "runtime/language.h"

static const struct warm warm[] = {
    /* The command line of most jobs. The zygote boots with it because /proc/PID/cmdline cannot be
     * changed later. */
    { .zygote = { .name = "bash",
                  .files = WORDS("belljar-plain.so"),
                  .argv = WORDS("/bin/bash", "main.sh"),
                  .env = NO_WORDS } },
    { .imports = NULL },
};

DECLARE_LANGUAGE(bash) = {
    NAMED("bash", "main.sh", WORDS(".sh", ".bash"), WORDS("shell", "sh")),
    .command = WORDS("/bin/bash", FILE_ARGUMENT),
    .session = WORDS("{guest}/bash/bash"),
    .cell_name = "<cell #>",
    .forks = true,
    .rests = true,
    .shell = true,
    .env = NO_WORDS,
    .version = WORDS("/bin/bash", "--version"),
    .install = "apt-get install bash",
    .warm = warm,
    .cold_env = WORDS("LD_*"),
    .prompts = WORDS("!$ ", "> "),
    .session_names = WORDS("console", "terminal", "shell-session", "shellsession"),
    .hints = WORDS(
        "^echo ", "!^echo \"$", "!^echo -", "!echo $", "^printf ", "^cd ", "^mkdir ", "^rm ",
        "^cp ", "^mv ", "^ln -", "^cat ", "^grep ", "^sleep ", "^export ", "^local ", "^source ",
        "^trap ", "^sudo ", "^curl ", "^wget ", "^exit ", "^touch ", "^chmod ", "^chown ", "^tar ",
        "^apt", "^pip ", "^pip3 ", "^npm ", "^npx ", "^yarn ", "^git ", "^docker ", "^kubectl ",
        "^make", "^cmake ", "^gcc ", "^g++ ", "^python ", "^python3 ", "^node ", "^cargo ",
        "^brew ", "^ssh ", "^scp ", "^ps ", "^df ", "^du ", "^head ", "^tail ", "^sort ", "^cut ",
        "^wc ", "^tr ", "^tee ", "^xargs ", "^uname", "^whoami", "^date", "^env", "^seq ", "^kill ",
        "^exec ", "^umask", "^ulimit", "^unset ", "^alias ", "^awk ", "^sed ", "^jq ", "^pwd",
        "^ls", "^ls -", "^ls /", "^read ", "^read -", "^find ", "!^find .", "!^find /", "^set -",
        "^test -", "^bash -c", "^./", "|wait", "!^awk '", "!^awk -", "!^sed -", "!^sed 's",
        "!^set -e", "!^set -u", "!^set -x", "!^shopt ", "!^declare -", "!^mapfile ", "!^readarray ",
        "!^if [", "!^elif [", "!^while [", "!^until [", "!^while read", "!^while IFS", "!^(( ",
        "!^[ ", "!^[[ ", "$(", "${", "$((", "\"$", "!=\"$", "!=$(", "!=$1", "!=\"${", "!=${",
        "!\"$1\"", "!\"$@\"", "!$?", "!$#", "!$@", "!$$", "!$!", "!$HOME", "!$PATH", "!$USER",
        "!\"${", "!${#", "!; do", "!; then", "!; fi", "!; done", "!;;", "! esac", "!|done", "!|fi",
        "!|esac", "!|then", "!|else", "!|do", "!^done <", "!^done |", "!]] &&", "!] &&", "!] ||",
        "! && echo", "! && cd ", "! || echo", "! || exit", "; echo ", "; export ", "!| grep",
        "!| wc", "!| sort", "!| uniq", "!| head", "!| tail", "!| awk", "!| sed", "!| cut", "!| tr ",
        "!| tee", "!| xargs", "!| jq", "!| cat", "!| bash", "!| while read", "!} | ", "!grep -",
        "!-exec ", "! -eq ", "! -ne ", "! -lt ", "! -le ", "! -gt ", "! -ge ", "!<<EOF", "!<< EOF",
        "!<<'EOF'", "!<< 'EOF'", "!<<-EOF", "!<<<", "!< <(", "!>&2", "!2>&1", "!2>/dev/null",
        "!/dev/null", "!> /dev", "! >> ", "!in {1..", "!in *.", "~() {", "|#", "-^$", "-~);",
        "-~\";", "-~';", "-~];", "-~});", "-~) {", "-my $", "-cout", "-printf(", "-^print(",
        "-^def ", "-PHP_EOL", "-var_dump", "-^import ", "^echo \"", "^echo '", "!^case \"$",
        "!^case $", "!-name '", "!-name \"", "-: string {", "-^puts ", "-^print_r(", "-foreach"),
};
