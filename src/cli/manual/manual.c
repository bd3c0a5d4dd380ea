/* Puts the tables of the commands, settings, limits and exit statuses into the order of a page. */
#include "cli/manual/manual.h"

#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "settings/settings.h"
#include "spec/verdict.h"

enum { TERM_SIZE = 96, TEXT_SIZE = 600 };

/* "-l, --language LANG". On a terminal the long names stand below each other. */
static const char *term_of(const struct page *p, const struct arg_row *r, char out[TERM_SIZE])
{
    char letter[8] = "    ";
    if (r->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", r->letter);
    (void)snprintf(out, TERM_SIZE, "%s--%s%s%s", r->letter || p->form == PAGE_HELP ? letter : "",
                   r->name, r->metavar ? " " : "", r->metavar ? r->metavar : "");
    return out;
}

static void add(char *out, const char *before, const char *text, const char *after)
{
    size_t used = strlen(out);
    (void)snprintf(out + used, TEXT_SIZE - used, "%s%s%s", before, text, after);
}

/* The help, with everything else that the row says. */
static const char *text_of(const struct arg_row *r, char out[TEXT_SIZE])
{
    const char *word;
    (void)snprintf(out, TEXT_SIZE, "%s", r->help);
    for (size_t i = 0; r->shows_words && (word = r->values.word_at(r->def, i)); i++)
        add(out, i == 0 ? ": " : r->values.word_at(r->def, i + 1) ? ", " : " or ", word, "");
    if (r->example)
        add(out, ", such as ", r->example, "");
    if (r->repeats)
        add(out, "; ", "can be repeated", "");
    if (r->default_text[0])
        add(out, " (default: ", r->default_text, ")");
    return out;
}

static void put_options(struct page *p, const struct cli_command *c)
{
    struct arg_row rows[ARGS_ROWS_MAX];
    size_t n = command_rows(c, rows);
    char term[TERM_SIZE], text[TEXT_SIZE];
    page_section(p, "Options");
    for (size_t i = 0; i < n; i++)
        if (!rows[i].group)
            page_item(p, term_of(p, &rows[i], term), text_of(&rows[i], text));
    const char *group = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].group)
            continue;
        if (!group || strcmp(group, rows[i].group) != 0)
            page_section(p, rows[i].group);
        group = rows[i].group;
        page_item(p, term_of(p, &rows[i], term), text_of(&rows[i], text));
    }
}

static void put_verbs(struct page *p, const struct cli_command *c)
{
    char term[TERM_SIZE];
    if (c->n_verbs > 0)
        page_section(p, "Actions");
    for (size_t i = 0; i < c->n_verbs; i++) {
        const struct verb *v = &c->verbs[i];
        (void)snprintf(term, sizeof term, "%s%s%s", v->name, v->operands[0] ? " " : "",
                       v->operands);
        page_item(p, term, v->help);
    }
}

static void put_pairs(struct page *p, const char *title, const char *const *pairs, bool code)
{
    if (pairs)
        page_section(p, title);
    for (; pairs && pairs[0]; pairs += 2) {
        if (!code) {
            page_item(p, pairs[0], pairs[1]);
            continue;
        }
        if (p->form == PAGE_ROFF)
            page_text(p, pairs[0]);
        page_code(p, pairs[1]);
    }
}

static const char failed_text[] = "belljar itself failed, and printed the reason";

/* "verdict timeout (--timeout) or cpu_timeout (--cpu-time)" for each status that a verdict sets. */
static void put_verdicts(struct page *p)
{
    static const struct evidence own_status = { .exit_code = -1 };
    int status[VERDICT_COUNT_];
    page_item(p, "0 to 255",
              "the exit status of the program, or of a compiler that failed; 128 + N if "
              "signal N ended it");
    for (int v = 0; v < VERDICT_COUNT_; v++) {
        char term[16], text[TEXT_SIZE] = "";
        bool listed = false;
        status[v] = verdict_exit_code((enum verdict)v, &own_status);
        for (int k = 0; k < v; k++)
            listed = listed || status[k] == status[v];
        if (status[v] < 0 || listed)
            continue;
        for (int k = v; k < VERDICT_COUNT_; k++) {
            enum limit_id limit = verdict_limit((enum verdict)k, 0);
            if (verdict_exit_code((enum verdict)k, &own_status) != status[v])
                continue;
            add(text, text[0] ? " or " : "verdict ", verdict_word((enum verdict)k), "");
            if (limit != LIMIT_NONE)
                add(text, " (--", limit_defs[limit].option, ")");
        }
        if (status[v] == err_exit_status(ERR_UNAVAILABLE))
            add(text, "; or ", failed_text, "");
        (void)snprintf(term, sizeof term, "%d", status[v]);
        page_item(p, term, text);
    }
}

static void put_status(struct page *p, enum err_code code, const char *text)
{
    char term[16];
    (void)snprintf(term, sizeof term, "%d", err_exit_status(code));
    page_item(p, term, text);
}

static void put_statuses(struct page *p, const struct cli_command *c)
{
    if (p->form == PAGE_HELP && !c->statuses && !c->exits_by_verdict)
        return;
    page_section(p, "Exit status");
    if (c->exits_by_verdict)
        put_verdicts(p);
    else if (!c->statuses)
        page_item(p, "0", "success");
    for (const char *const *pair = c->statuses; pair && pair[0]; pair += 2)
        page_item(p, pair[0], pair[1]);
    if (!c->exits_by_verdict)
        put_status(p, ERR_UNAVAILABLE, failed_text);
    put_status(p, ERR_USAGE, "the command line is wrong");
}

/* Everything below the usage lines and the description. */
static void put_sections(struct page *p, const struct cli_command *c)
{
    put_verbs(p, c);
    put_options(p, c);
    if (c->sections)
        c->sections(p);
    put_statuses(p, c);
    put_pairs(p, "Examples", c->examples, true);
}

void manual_help(const struct cli_command *c)
{
    struct page p = { stdout, PAGE_HELP };
    for (size_t i = 0; c->usage[i]; i++)
        (void)printf("%s belljar %s%s%s\n", i == 0 ? "Usage:" : "      ", c->name,
                     c->usage[i][0] ? " " : "", c->usage[i]);
    (void)printf("\n");
    page_text(&p, c->description);
    put_sections(&p, c);
}

void manual_overview(FILE *out)
{
    (void)fprintf(out, "Usage: belljar COMMAND [OPTION]...\n\n"
                       "Runs untrusted code in sealed jars.\n\nCommands:\n");
    for (size_t i = 0; commands[i]; i++)
        (void)fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    (void)fprintf(out, "\n'belljar help COMMAND' shows the options of a command.\n");
}

void manual_settings(struct page *p)
{
    struct setting_text s;
    page_section(p, "Settings");
    for (size_t i = 0; settings_describe(i, &s); i++) {
        char term[TERM_SIZE], text[TEXT_SIZE];
        (void)snprintf(term, sizeof term, "%s %s", s.key, s.metavar);
        (void)snprintf(text, sizeof text, "%s", s.help);
        if (s.default_text[0])
            add(text, " (default: ", s.default_text, ")");
        if (s.fixed)
            add(text, "; ", "at start only", "");
        page_item(p, term, text);
    }
}

/* ---- man pages ---- */

static void put_name(struct page *p, const char *name, const char *summary)
{
    page_section(p, "Name");
    (void)fputs(name, p->out);
    (void)fprintf(p->out, " \\- %s\n", summary);
}

static void put_see_also(struct page *p, const struct cli_command *but)
{
    page_section(p, "See also");
    if (but)
        (void)fputs(".BR belljar (1),\n", p->out);
    for (size_t i = 0; commands[i]; i++)
        if (commands[i] != but)
            (void)fprintf(p->out, ".BR belljar\\-%s (1),\n", commands[i]->name);
    (void)fputs(".BR belljar.conf (5)\n", p->out);
}

static void put_usage(struct page *p, const struct cli_command *c)
{
    page_section(p, "Synopsis");
    for (size_t i = 0; c->usage[i]; i++) {
        char line[200];
        (void)snprintf(line, sizeof line, "belljar %s %s", c->name, c->usage[i]);
        if (i > 0)
            (void)fputs(".br\n", p->out);
        page_synopsis(p, line);
    }
}

static void command_page(struct page *p, const struct cli_command *c)
{
    char name[32];
    (void)snprintf(name, sizeof name, "belljar-%s", c->name);
    page_title(p, name, 1);
    (void)snprintf(name, sizeof name, "belljar\\-%s", c->name);
    put_name(p, name, c->summary);
    put_usage(p, c);
    page_section(p, "Description");
    page_text(p, c->description);
    put_sections(p, c);
    put_see_also(p, c);
}

static void overview_page(struct page *p)
{
    static const char *const files[] = {
        "/var/lib/belljar",
        "The state directory of a service that root starts: history, keys, socket.",
        "~/.local/state/belljar",
        "The state directory of a service that another user starts.",
        "~/.cache/belljar/programs",
        "Compiled programs of 'belljar run' without a service ($XDG_CACHE_HOME).",
        "/etc/belljar/languages.d",
        "Declarations of further languages; see belljar-languages(1).",
        NULL,
    };
    static const char *const environment[] = {
        "BELLJAR_STATE",
        "The state directory, if no --state is given.",
        "BELLJAR_LANGUAGES",
        "The directory with declarations of further languages.",
        "NO_COLOR",
        "If set, no output has colours.",
        NULL,
    };
    page_title(p, "belljar", 1);
    put_name(p, "belljar", "run untrusted code in sealed jars");
    page_section(p, "Synopsis");
    page_synopsis(p, "belljar COMMAND [OPTION]...");
    page_section(p, "Description");
    page_text(p, "Belljar runs programs that nobody should trust. Each program runs in a jar of "
                 "its own: namespaces, a cgroup, seccomp and Landlock separate it from the host "
                 "and from other programs, and limits bound everything that it uses.\n\n"
                 "'belljar run' runs one program. 'belljar serve' offers the same over HTTP, "
                 "keeps a history, and starts programs faster because it keeps interpreters "
                 "ready. 'belljar doctor' shows the isolation that this machine offers.");
    page_section(p, "Commands");
    for (size_t i = 0; commands[i]; i++)
        page_item(p, commands[i]->name, commands[i]->summary);
    put_pairs(p, "Files", files, false);
    put_pairs(p, "Environment", environment, false);
    put_statuses(p, &run_command);
    put_pairs(p, "Examples", run_command.examples, true);
    put_see_also(p, NULL);
}

static void settings_page(struct page *p)
{
    page_title(p, "belljar.conf", 5);
    put_name(p, "belljar.conf", "settings of 'belljar serve'");
    page_section(p, "Description");
    page_text(p, "'belljar serve --config FILE' reads settings from a file. Each line is 'key = "
                 "value'. A line that begins with # is a comment. --set KEY=VALUE overrides the "
                 "file. SIGHUP makes a running service read the file again; settings marked 'at "
                 "start only' keep their value then.");
    manual_settings(p);
    page_section(p, "Examples");
    page_code(p, "runs.max = 32");
    page_code(p, "limits.memory.max = 1g");
    page_code(p, "history.max_age = 7d");
    put_see_also(p, NULL);
}

int manual_page(const char *name, struct err *e)
{
    struct page p = { stdout, PAGE_ROFF };
    const struct cli_command *c = command_find(name);
    if (c)
        command_page(&p, c);
    else if (strcmp(name, "belljar") == 0)
        overview_page(&p);
    else if (strcmp(name, "belljar.conf") == 0)
        settings_page(&p);
    else
        return err_set(e, ERR_USAGE, 0,
                       "there is no page '%s': belljar, belljar.conf and the commands are "
                       "accepted; see 'belljar help'",
                       QUOTED(name));
    return 0;
}
