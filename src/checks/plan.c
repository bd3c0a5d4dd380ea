/* The script of a check and its arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strv.h"
#include "base/text.h"
#include "checks/checks.h"

/* tell STEP TOOL STATUS NAME TEXT: one entry of the report.
 * try STEP TOOL NAME COMMAND...: one tool; its output and status are an entry.
 * has COMMAND: whether this machine has it. */
static const char prelude[] =
    "guest=/opt/belljar tmp=${TMPDIR:-/tmp}\n"
    "[ -d $guest ] || guest=$" CHECKS_GUEST "\n"
    "tell() {\n"
    "    local LC_ALL=C\n"
    "    local name=${4:0:255} text=${5:0:32768}\n"
    "    printf 'check %s %s %s %s %d %d\\n%s\\n%s\\n' \\\n"
    "        \"$language\" \"$1\" \"$2\" \"$3\" ${#name} ${#text} \"$name\" \"$text\"\n"
    "}\n"
    "has() { type -P \"$1\" >/dev/null; }\n"
    "try() {\n"
    "    local step=$1 tool=$2 name=$3 text status\n"
    "    shift 3\n"
    "    if ! has \"$1\"; then\n"
    "        tell \"$step\" \"$tool\" not_installed \"$name\" ''\n"
    "        return 1\n"
    "    fi\n"
    "    text=$(\"$@\" 2>&1 </dev/null)\n"
    "    status=$?\n"
    "    tell \"$step\" \"$tool\" $status \"$name\" \"$text\"\n"
    "    return $status\n"
    "}\n";

static const char finale[] =
    "while (($#)); do\n"
    "    language=$1 files=(\"${@:3:$2}\")\n"
    /* No file is an option, or a file with options. */
    "    files=(\"${files[@]/#-/./-}\")\n"
    "    files=(\"${files[@]/#@/./@}\")\n"
    "    shift $(($2 + 2))\n"
    "    if declare -F \"check_$language\" >/dev/null; then \"check_$language\"\n"
    "    else tell syntax - none '' ''; fi\n"
    "done\n"
    "printf 'check end\\n'\n";

void check_plan_done(struct check_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->files[i].name);
    p->n = 0;
}

int check_plan_add(struct check_plan *p, const char *name, const struct language *language,
                   struct err *e)
{
    language = language ? language : language_by_name(name);
    const char *slash = strrchr(name, '/');
    if (!language)
        return 0;
    /* The driver of gcc passes on the last part of a name alone, and the compiler behind it would read
     * the file after the @ as options, which can load a plugin. */
    if ((slash ? slash[1] : name[0]) == '@')
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the file '%s' cannot be checked, because compilers read options from the "
                       "file behind an @: give it another name",
                       QUOTED(name));
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->files[i].name, name) == 0)
            return 0;
    if (p->n == CHECKS_FILES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "a check reads up to %d files with code: check the folders one by one",
                       CHECKS_FILES_MAX);
    char *copy = strdup(name);
    if (!copy)
        return err_no_memory(e, "the files");
    p->files[p->n++] = (struct check_file){ copy, language };
    return 0;
}

/* The number of files in a language. */
static size_t count_of(const struct check_plan *p, const struct language *l)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->files[i].language == l;
    return n;
}

int check_plan_script(const struct check_plan *p, struct buf *out, struct err *e)
{
    if (buf_addf(out, e, "%s", prelude))
        return -1;
    for (const struct language *const *l = languages; *l; l++) {
        const struct checker *c = checker_of((*l)->name);
        if (c && count_of(p, *l) > 0 && buf_addf(out, e, "%s", c->script))
            return -1;
    }
    return buf_addf(out, e, "%s", finale);
}

static int add_language(const struct check_plan *p, const struct language *l, char ***ret,
                        struct err *e)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%zu", count_of(p, l));
    if (strv_add(ret, l->name, e) || strv_add(ret, number, e))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        if (p->files[i].language == l && strv_add(ret, p->files[i].name, e))
            return -1;
    return 0;
}

int check_plan_args(const struct check_plan *p, char ***ret, struct err *e)
{
    char **args = NULL;
    for (const struct language *const *l = languages; *l; l++)
        if (count_of(p, *l) > 0 && add_language(p, *l, &args, e)) {
            strv_free(args);
            return -1;
        }
    *ret = args;
    return 0;
}
