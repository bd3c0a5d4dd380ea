/* Completions for bash, zsh and fish. The words are those of the tables when the script is printed:
 * a language that a file adds later is not among them. */
#include "cli/manual/completion.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/cli.h"

/* Prints text in single quotes for a shell. zsh: within [...] and (...) of _arguments and _describe
 * some characters have a meaning of their own. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            (void)putchar('\\');
        if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else
            (void)putchar(*text);
    }
}

static void put_words(const struct arg_values *v, const void *def)
{
    const char *word;
    for (size_t i = 0; v->kind == VALUES_WORDS && (word = v->word_at(def, i)); i++)
        (void)printf("%s%s", i ? " " : "", word);
}

static void put_names(const struct cli_command *c)
{
    for (size_t i = 0; commands[i] && !c; i++)
        (void)printf("%s%s", i ? " " : "", commands[i]->name);
    for (size_t i = 0; c && i < c->n_verbs; i++)
        (void)printf("%s%s", i ? " " : "", c->verbs[i].name);
}

/* The words that operands of verbs can be; only one verb table has such words. */
static void put_verb_operands(const struct cli_command *c)
{
    for (size_t i = 0; i < c->n_verbs; i++)
        if (c->verbs[i].values.kind == VALUES_WORDS) {
            put_words(&c->verbs[i].values, NULL);
            return;
        }
}

/* ---- bash ---- */

/* A call of _belljar_offer. */
static void bash_offer(const struct arg_values *v, const void *def)
{
    static const char *const kinds[] = { [VALUES_ANY] = "any",
                                         [VALUES_FILE] = "file",
                                         [VALUES_DIRECTORY] = "directory",
                                         [VALUES_WORDS] = "words" };
    (void)printf("_belljar_offer %s '", kinds[v->kind]);
    put_words(v, def);
    (void)printf("'; return");
}

static void bash_operands(const struct cli_command *c)
{
    (void)printf("        case $verb in\n");
    for (size_t i = 0; i < c->n_verbs; i++) {
        (void)printf("        %s) ", c->verbs[i].name);
        bash_offer(&c->verbs[i].values, NULL);
        (void)printf(" ;;\n");
    }
    (void)printf("        *) ");
    if (c->n_verbs == 0) {
        bash_offer(&c->values, NULL);
    } else {
        (void)printf("_belljar_offer words '");
        put_names(c);
        (void)printf("'; return");
    }
    (void)printf(" ;;\n        esac\n");
}

static void bash_command(const struct cli_command *c)
{
    struct arg_row rows[ARGS_ROWS_MAX];
    size_t n = command_rows(c, rows);
    (void)printf("    %s)\n        case $previous in\n", c->name);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].metavar)
            continue;
        (void)printf("        --%s", rows[i].name);
        if (rows[i].letter)
            (void)printf(" | -%c", rows[i].letter);
        (void)printf(") ");
        bash_offer(&rows[i].values, rows[i].def);
        (void)printf(" ;;\n");
    }
    (void)printf("        esac\n        if [[ $word == -* ]]; then\n"
                 "            _belljar_offer words '");
    for (size_t i = 0; i < n; i++)
        (void)printf("%s--%s", i ? " " : "", rows[i].name);
    (void)printf("'\n            return\n        fi\n");
    bash_operands(c);
    (void)printf("        ;;\n");
}

static void bash(void)
{
    (void)printf(
        "# Completions of belljar for bash. 'belljar help --completion bash' prints them.\n"
        "_belljar_offer() { # KIND WORDS\n"
        "    local word=${COMP_WORDS[COMP_CWORD]}\n"
        "    case $1 in\n"
        "    words) mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$word\") ;;\n"
        "    file) compopt -o filenames 2>/dev/null\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
        "    directory) compopt -o filenames 2>/dev/null\n"
        "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
        "    esac\n"
        "}\n"
        "_belljar() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    local verb='' i\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        _belljar_offer words '");
    put_names(NULL);
    (void)printf("'\n        return\n    fi\n"
                 "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                 "        if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
                 "            _belljar_offer file ''\n"
                 "            return\n"
                 "        fi\n"
                 "        [[ -n $verb || ${COMP_WORDS[i]} == -* ]] || verb=${COMP_WORDS[i]}\n"
                 "    done\n"
                 "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i]; i++)
        bash_command(commands[i]);
    (void)printf("    esac\n}\ncomplete -F _belljar belljar\n");
}

/* ---- zsh ---- */

static void zsh_values(const struct arg_values *v, const void *def)
{
    if (v->kind == VALUES_FILE)
        (void)fputs("_files", stdout);
    else if (v->kind == VALUES_DIRECTORY)
        (void)fputs("_files -/", stdout);
    else if (v->kind == VALUES_WORDS)
        (void)fputs("(", stdout);
    else
        (void)fputs(" ", stdout);
    put_words(v, def);
    if (v->kind == VALUES_WORDS)
        (void)fputs(")", stdout);
}

static void zsh_option(const struct arg_row *r)
{
    (void)printf(" \\\n            ");
    if (r->repeats)
        (void)printf("'*'");
    else if (r->letter)
        (void)printf("'(-%c --%s)'", r->letter, r->name);
    if (r->letter)
        (void)printf("{-%c,--%s}", r->letter, r->name);
    else
        (void)printf("--%s", r->name);
    (void)printf("'[");
    put_quoted(r->help, "[]:");
    (void)printf("]");
    if (r->metavar) {
        (void)printf(":");
        put_quoted(r->metavar, ":");
        (void)printf(":");
        zsh_values(&r->values, r->def);
    }
    (void)printf("'");
}

static void zsh_command(const struct cli_command *c)
{
    struct arg_row rows[ARGS_ROWS_MAX];
    size_t n = command_rows(c, rows);
    (void)printf("    %s)\n        _arguments -s -S", c->name);
    for (size_t i = 0; i < n; i++)
        zsh_option(&rows[i]);
    if (c->n_verbs > 0) {
        (void)printf(" \\\n            '1:action:(");
        put_names(c);
        (void)printf(")' \\\n            '*:name:(");
        put_verb_operands(c);
        (void)printf(")'");
    } else if (c->max_operands > 0) {
        (void)printf(" \\\n            '*:operand:");
        zsh_values(&c->values, NULL);
        (void)printf("'");
    }
    (void)printf("\n        ;;\n");
}

static void zsh(void)
{
    (void)printf("#compdef belljar\n"
                 "# Completions of belljar for zsh. 'belljar help --completion zsh' prints them.\n"
                 "_belljar() {\n"
                 "    local -a names\n"
                 "    names=(\n");
    for (size_t i = 0; commands[i]; i++) {
        (void)printf("        '%s:", commands[i]->name);
        put_quoted(commands[i]->summary, ":");
        (void)printf("'\n");
    }
    (void)printf("    )\n"
                 "    if ((CURRENT == 2)); then\n"
                 "        _describe command names\n"
                 "        return\n"
                 "    fi\n"
                 "    shift words\n"
                 "    ((CURRENT--))\n"
                 "    case $words[1] in\n");
    for (size_t i = 0; commands[i]; i++)
        zsh_command(commands[i]);
    (void)printf("    esac\n"
                 "}\n"
                 "if [[ $funcstack[1] == _belljar ]]; then\n"
                 "    _belljar \"$@\"\n"
                 "else\n"
                 "    compdef _belljar belljar\n"
                 "fi\n");
}

/* ---- fish ---- */

static void fish_values(const struct arg_values *v, const void *def)
{
    if (v->kind == VALUES_WORDS) {
        (void)printf(" -x -a '");
        put_words(v, def);
        (void)printf("'");
    } else if (v->kind == VALUES_DIRECTORY) {
        (void)printf(" -x -a '(__fish_complete_directories)'");
    } else {
        (void)printf(v->kind == VALUES_FILE ? " -r -F" : " -x");
    }
}

static void fish_command(const struct cli_command *c)
{
    struct arg_row rows[ARGS_ROWS_MAX];
    size_t n = command_rows(c, rows);
    for (size_t i = 0; i < n; i++) {
        const struct arg_row *r = &rows[i];
        (void)printf("complete -c belljar -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                     r->name);
        if (r->letter)
            (void)printf(" -s %c", r->letter);
        if (r->metavar)
            fish_values(&r->values, r->def);
        (void)printf(" -d '");
        put_quoted(r->help, "\\");
        (void)printf("'\n");
    }
    if (c->values.kind == VALUES_ANY && c->n_verbs == 0)
        return;
    (void)printf("complete -c belljar -n '__fish_seen_subcommand_from %s' ", c->name);
    if (c->values.kind == VALUES_FILE) {
        (void)printf("-F\n");
        return;
    }
    (void)printf("-a '");
    if (c->n_verbs > 0) {
        put_names(c);
        (void)printf(" ");
        put_verb_operands(c);
    } else {
        put_words(&c->values, NULL);
    }
    (void)printf("'\n");
}

static void fish(void)
{
    (void)printf(
        "# Completions of belljar for fish. 'belljar help --completion fish' prints them.\n"
        "complete -c belljar -f\n");
    for (size_t i = 0; commands[i]; i++) {
        (void)printf("complete -c belljar -n __fish_use_subcommand -a %s -d '", commands[i]->name);
        put_quoted(commands[i]->summary, "\\");
        (void)printf("'\n");
    }
    for (size_t i = 0; commands[i]; i++)
        fish_command(commands[i]);
}

const char *const completion_shells[] = { "bash", "zsh", "fish", NULL };
static void (*const printers[])(void) = { bash, zsh, fish };

int completion_print(const char *shell, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(printers); i++)
        if (strcmp(completion_shells[i], shell) == 0) {
            printers[i]();
            return 0;
        }
    return err_set(e, ERR_BAD_REQUEST, 0, "--completion '%s': bash, zsh and fish are accepted",
                   QUOTED(shell));
}
