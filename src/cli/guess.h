/* cli/guess.h — the command or option that a caller means whose word names none. Runs in: main. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* True if stdin is a pipe or a file: it may be the program. */
bool guess_is_piped(void);
/* True if the words are those of `belljar run`, without its name: a program, a directory with one,
 * an option, or nothing at all while a program is piped to us. */
bool guess_is_run(int argc, char **argv);
/* Refuses an option that stands before its command, and tells their order. 0: there is none. */
[[nodiscard]] int guess_refuse_early_option(int argc, char **argv, struct err *e);
/* A sentence for an option of other tools: our way to the same end. NULL: none is known. */
const char *guess_option(const char *command, const char *word);
/* Names the command to type instead of this word. Always -1. */
[[nodiscard]] int guess_refuse(const char *word, struct err *e);
