#include "allowlist/companions.h"

#include <stddef.h>
#include <string.h>

/* Debian's directory of architecture-dependent files. It is named, because a pattern would search
 * all of /usr/lib. */
#if defined(__x86_64__)
#define ARCH "/usr/lib/x86_64-linux-gnu"
#else
#define ARCH "/usr/lib/aarch64-linux-gnu"
#endif
#define PATHS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* /usr/share needs no row: all of it is readable, and nothing there is executable. */
const struct companion companions[] = {
    /* for every program: locales, character sets, terminals, user names; libgcc is loaded when a
     * thread is cancelled */
    { "libc.so.6",
      PATHS("/usr/lib/locale", "/usr/lib/terminfo", "/lib/terminfo", "/usr/lib64/gconv"),
      PATHS(ARCH "/libgcc_s.so.1", ARCH "/libnss_files.so.2"), NULL, false },
    { "libc.so.6", PATHS(ARCH "/gconv"), NULL, NULL, false },
    { "zsh*", PATHS(ARCH "/zsh"), PATHS(ARCH "/zsh/*/zsh/*.so"), NULL, false },
    { "python3*", PATHS("/usr/lib/python3*", "/usr/local/lib/python3*"),
      PATHS("/usr/lib/python3.*/lib-dynload/*.so", "/usr/local/lib/python3.*/lib-dynload/*.so"),
      NULL, false },
    { "perl*", PATHS(ARCH "/perl*", "/usr/lib/perl5"),
      PATHS(ARCH "/perl/*/auto/*/*.so", ARCH "/perl/*/auto/*/*/*.so", ARCH "/perl-base/auto/*/*.so",
            ARCH "/perl-base/auto/*/*/*.so"),
      NULL, false },
    { "ruby*", PATHS("/usr/lib/ruby", ARCH "/ruby"),
      PATHS(ARCH "/ruby/*/*.so", ARCH "/ruby/*/*/*.so"), NULL, false },
    { "lua5*", PATHS(ARCH "/lua", "/usr/local/lib/lua"), NULL, NULL, false },
    { "*awk", PATHS(ARCH "/gawk"), NULL, NULL, false },
    { "libmagic.so.*", PATHS("/usr/lib/file"), NULL, NULL, false },
    { "libcrypto.so.*", PATHS(ARCH "/ossl-modules", ARCH "/engines-*", "/usr/lib/ssl"), NULL, NULL,
      false },
    { "git", NULL, NULL, PATHS("/usr/lib/git-core"), false },
    { "node", PATHS("/usr/lib/node_modules", ARCH "/nodejs"), NULL, NULL, true },
    { "libnode.so.*", NULL, NULL, NULL, true },
    { "php*", PATHS("/usr/lib/php"), PATHS("/usr/lib/php/*/*.so"), NULL, true },
    { "java*", NULL, PATHS("/usr/lib/jvm/*/lib/*.so", "/usr/lib/jvm/*/lib/server/*.so"),
      PATHS("/usr/lib/jvm"), true },
    { "luajit*", PATHS(ARCH "/lua"), NULL, NULL, true },
    { "pypy*", PATHS("/usr/lib/pypy*"), NULL, NULL, true },
    { "libjvm.so", NULL, NULL, NULL, true },
    { "libmono*", NULL, NULL, NULL, true },
    { 0 },
};

/* Sorted for people. If a file of that name exists, it may be executed as well. */
static const char *const builtins[] = {
    "!",       "-",        ".",          ":",        "[",        "[[",      "alias",    "autoload",
    "bg",      "bind",     "bindkey",    "break",    "builtin",  "bye",     "caller",   "case",
    "cd",      "chdir",    "command",    "compgen",  "complete", "compopt", "continue", "coproc",
    "declare", "dirs",     "disable",    "disown",   "do",       "done",    "echo",     "elif",
    "else",    "emulate",  "enable",     "esac",     "eval",     "exec",    "exit",     "export",
    "false",   "fc",       "fg",         "fi",       "float",    "for",     "function", "functions",
    "getln",   "getopts",  "hash",       "help",     "history",  "if",      "in",       "integer",
    "jobs",    "kill",     "let",        "limit",    "local",    "log",     "logout",   "mapfile",
    "noglob",  "popd",     "print",      "printf",   "private",  "pushd",   "pushln",   "pwd",
    "r",       "read",     "readarray",  "readonly", "rehash",   "return",  "sched",    "select",
    "set",     "setopt",   "shift",      "shopt",    "source",   "suspend", "test",     "then",
    "time",    "times",    "trap",       "true",     "ttyctl",   "type",    "typeset",  "ulimit",
    "umask",   "unalias",  "unfunction", "unhash",   "unlimit",  "unset",   "unsetopt", "until",
    "vared",   "wait",     "whence",     "where",    "which",    "while",   "zcompile", "zformat",
    "zle",     "zmodload", "zparseopts", "zstyle",   NULL,
};

static const char *const many_in_one[] = { "busybox", "toybox", "coreutils", "sbase-box", NULL };

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

bool companion_is_builtin(const char *name)
{
    return is_one_of(name, builtins);
}

bool companion_is_many(const char *file_name)
{
    return is_one_of(file_name, many_in_one);
}
