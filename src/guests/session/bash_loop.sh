# Functions of a bash session; see bash.c. `builtin` and `command` because a program may define
# functions with the same names.
__belljar_last() { return "$1"; }
# While a cell is being left, no command runs but ours: those of the script itself and of the report.
# 2 returns from a file or a function. BASH_COMMAND would not tell: it keeps the command of the cell
# if a second signal comes while the first is handled.
__belljar_skip() { case ${FUNCNAME[1]-} in main | __belljar_end) return 0 ;; esac; return 2; }
__belljar_leave() {
    __belljar_left=$1
    builtin shopt -s extdebug
    builtin trap __belljar_skip DEBUG
}
__belljar_end() {
    builtin local status=$1
    if [[ -n ${__belljar_left-} ]]; then
        status=$__belljar_left
        builtin unset -v __belljar_left # first: a signal after the next line sets it again
        builtin trap - DEBUG
        builtin shopt -u extdebug
    fi
    builtin trap '__belljar_leave 130' INT
    builtin printf '\037%d %d\0' "$status" "$2" >&62
}
# Ends the cell, and not the session. In a subshell it is the usual one.
exit() {
    builtin local status=$?
    (( BASH_SUBSHELL )) && builtin exit "${1:-$status}"
    __belljar_leave "${1:-$status}"
}
__belljar_names() { builtin compgen "$1" -- "$2" | command sort -u | command head -n 500 >&62; builtin :; }
__belljar_about() { { builtin type -a -- "$1" || builtin declare -p -- "$1"; } >&62; builtin :; }
__belljar_variables() {
    builtin local name
    for name in $(builtin compgen -v); do
        case $__belljar_initial in *" $name "*) builtin continue ;; esac
        case $name in name | _ | __belljar_*) builtin continue ;; esac
        builtin declare -p "$name"
        builtin printf '\036'
    done >&62
    builtin :
}
builtin trap '__belljar_leave 130' INT
__belljar_initial=$(builtin compgen -v)
__belljar_initial=" ${__belljar_initial//$'\n'/ } BASH_ARGV BASH_ARGC BASH_LINENO BASH_SOURCE FUNCNAME PIPESTATUS BASH_REMATCH COLUMNS LINES OLDPWD "
