/* runtime/zsh/lang.c — the declaration of zsh; see runtime/language.h. Pure data. */
#include "runtime/language.h"

DECLARE_LANGUAGE(zsh) = {
    NAMED("zsh", "main.zsh", WORDS(".zsh"), NO_WORDS),
    .command = WORDS("/usr/bin/zsh", FILE_ARGUMENT),
    .shell = true,
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/zsh", "--version"),
    .install = "apt-get install zsh",
    .prompts = WORDS("$ ", "> "),
    .hints = WORDS("<bash", "!^setopt ", "!^unsetopt ", "!^autoload ", "!^zmodload ", "!^zstyle ",
                   "!^bindkey ", "!^zle ", "!^zparseopts", "!^zmv", "!^emulate ", "!^vared ",
                   "!^repeat ", "!^compdef ", "!^compinit", "!^print -", "^print ", "!^print $",
                   "!^typeset -A", "!^typeset -a", "!^typeset -i", "!^typeset -U", "!^local -a",
                   "!^local -A", "!${(", "!$((#", "!${${", "!(N)", "!(.)", "!(/)", "!(.N)", "!(N.)",
                   "!(om", "!(.om", "!(On", "!(D)", "!(@)", "!:t}", "!:r}", "!:h}", "!:e}",
                   "!:t:r}", "!:u}", "!:l}", "!; print", "!do print", "!for k v in",
                   "!for key value in", "!for key val in", "!$EPOCH", "!$fpath", "!$ZSH", "!${ZSH",
                   "!$options[", "!%F{", "!zsh", "!$argv[", "!$words[", "!$arr[", "!$list[",
                   "!$array[", "!$items[", "!$nums[", "!|always", "!} always {", "-~;", "-my $",
                   "-print(", "-=>", "-shopt", "-declare -A", "-mapfile", "-{!", "-BASH", "-^$",
                   "**/*"),
};
