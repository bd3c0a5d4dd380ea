#include "cli/guess.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/repl/notebook.h"
#include "runtime/language.h"

/* Words of other tools, and the command that does the same here. */
static const struct {
    const char *words; /* with blanks around each */
    const char *command;
} synonyms[] = {
    { " exec execute eval start go compile build sandbox ", "belljar run FILE" },
    { " shell console interactive open ", "belljar repl LANGUAGE" },
    { " ps status stats list ls jobs monitor ", "belljar top" },
    { " logs log runs show results output ", "belljar history" },
    { " server service daemon up web ui dashboard listen api ", "belljar serve" },
    { " stop kill cancel rm remove delete down ", "belljar session rm ID" },
    { " install add get setup ", "belljar languages install LANGUAGE" },
    { " lint typecheck validate verify-syntax ", "belljar check FILE" },
    { " info env diagnose config ", "belljar doctor" },
    { " fork snapshot save restore checkpoint resume pause ", "belljar session --help" },
    { " approve reject allow deny ", "belljar approvals" },
    { " notebook jupyter lab ", "belljar kernel install" },
    { " docs man usage commands ", "belljar help" },
};

/* Options of other tools, and the words that do the same here. */
static const struct {
    const char *command;
    const char *words; /* with blanks around each */
    const char *advice;
} options_elsewhere[] = {
    { "run", " -m --ram --memory-limit --max-memory ", "--memory 256m limits its memory" },
    { "run", " -t --time-limit --wall --wall-time --deadline ", "--timeout 5s limits its time" },
    { "run", " --cpus --cpu --threads ", "--cpu-percent 200 gives it two CPUs" },
    { "run", " -e --environment --setenv ", "--env NAME=VALUE sets a variable" },
    { "run", " -v --volume --bind --dir ", "--mount DIR shows a directory as /mnt/NAME" },
    { "run", " -f --add --copy --upload --with ", "--file NAME puts a file beside the program" },
    { "run", " -o --download --save --artifact ", "--out NAME saves a file of the program" },
    { "run", " --step --steps --cmd --command --commands ",
      "--stage COMMAND runs commands of bash, one stage after the other in one jar" },
    { "run", " --input -I ", "--stdin FILE is read as standard input" },
    { "run", " -p --publish --port --expose ", "nobody can connect to a program in a jar" },
    { "run", " --no-network --no-net --offline --unshare-net ",
      "no program has a network unless --allow-net HOST gives it one, so leave it out" },
    { "run", " --rm -i -it -ti --interactive --tty --init ",
      "every jar reads our standard input and is removed after its run, so leave it out" },
    { "run", " -d --detach --background ",
      "the clients of 'belljar serve' need not wait for their runs; a command waits" },
    { "run", " -u --user --privileged --cap-add --cap-drop --security-opt ",
      "every program runs as a user of its own without privileges, so leave it out" },
    { "serve", " -p --port --host --bind --addr --address ",
      "--listen 127.0.0.1:PORT is its address" },
    { "serve", " -d --daemon --detach --background ",
      "it stays in the foreground; 'systemctl enable --now belljar' keeps one running" },
    { "repl", " -l --lang --language ", "the language is its first word: 'belljar repl python'" },
};

const char *guess_option(const char *command, const char *word)
{
    char padded[NEAREST_WORD_MAX + 3];
    size_t n = strcspn(word, "=");
    if (n > NEAREST_WORD_MAX || strchr(word, ' '))
        return NULL;
    (void)snprintf(padded, sizeof padded, " %.*s ", (int)n, word);
    for (size_t i = 0; i < ARRAY_LEN(options_elsewhere); i++)
        if (strcmp(options_elsewhere[i].command, command) == 0 &&
            strstr(options_elsewhere[i].words, padded))
            return options_elsewhere[i].advice;
    return NULL;
}

bool guess_is_piped(void)
{
    struct stat st;
    return fstat(0, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/* A name that looks like a program is one, even if it is misspelt: the message is about the file. */
static bool names_a_program(const char *word)
{
    struct stat st;
    return strchr(word, '/') || language_by_name(word) || notebook_is(word) ||
           strcmp(word, "-") == 0 || strcmp(word, ".") == 0 || stat(word, &st) == 0;
}

bool guess_is_run(int argc, char **argv)
{
    if (argc < 2)
        return guess_is_piped();
    if (argv[1][0] == '-' && argv[1][1] != '\0')
        return true;
    return names_a_program(argv[1]);
}

int guess_refuse_early_option(int argc, char **argv, struct err *e)
{
    enum { WORDS_SEEN = 4 }; /* the option and its value, perhaps */
    struct stat st;
    if (argc < 3 || argv[1][0] != '-' || argv[1][1] != '-' || argv[1][2] == '\0' ||
        strcmp(argv[1], "--code") == 0)
        return 0;
    for (int i = 2; i < argc && i < WORDS_SEEN; i++) {
        if (argv[i][0] == '-' || !command_find(argv[i]) || stat(argv[i], &st) == 0)
            continue;
        return err_set(e, ERR_USAGE, 0,
                       "the option '%s' stands before its command: write 'belljar %s %s ...'",
                       QUOTED(argv[1]), argv[i], QUOTED(argv[1]));
    }
    return 0;
}

static const char *synonym(const char *word)
{
    char padded[NEAREST_WORD_MAX + 3];
    if (strlen(word) > NEAREST_WORD_MAX || strchr(word, ' '))
        return NULL;
    (void)snprintf(padded, sizeof padded, " %s ", word);
    for (size_t i = 0; i < ARRAY_LEN(synonyms); i++)
        if (strstr(synonyms[i].words, padded))
            return synonyms[i].command;
    return NULL;
}

int guess_refuse(const char *word, struct err *e)
{
    const struct language *l = language_find(word);
    const char *command = synonym(word);
    struct nearest near = { .wanted = word };
    for (size_t i = 0; commands[i]; i++)
        nearest_offer(&near, commands[i]->name);
    if (l)
        return err_set(
            e, ERR_USAGE, 0,
            "'%s' is a language: 'belljar run -l %s FILE' runs a program, 'belljar run -l "
            "%s -c CODE' a line, and 'belljar repl %s' opens a session",
            QUOTED(word), l->name, l->name, l->name);
    if (command) /* first: 'stop' is no misspelt 'top' */
        return err_set(e, ERR_USAGE, 0,
                       "there is no command '%s': '%s' is the nearest; see 'belljar help'",
                       QUOTED(word), command);
    if (near.name[0])
        return err_set(e, ERR_USAGE, 0,
                       "there is no command '%s': did you mean '%s'? See 'belljar help'",
                       QUOTED(word), near.name);
    return err_set(e, ERR_USAGE, 0,
                   "there is no command '%s', and no file of that name: 'belljar run FILE' runs a "
                   "program; see 'belljar help' for all commands",
                   QUOTED(word));
}
