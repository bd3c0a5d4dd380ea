/* api/approvals/preview.h — a run as it is shown to whoever decides on it. Runs in: keeper. Pure functions.
 * Invariant: nothing that the program is given is left out without a word: what is cut says so. */
#pragma once

#include "engine/engine.h"

/* {language, code, args, env, stdin, files: [{name, size, content}], entry, compiler_args, allow_commands, read_only}: everything
 * it is given. */
json_t *shown_input(const struct run_spec *s);
/* What risks.h finds in any of its files; those beside the main one are named ("file"). Arguments of a compiler are one
 * (kind "compiler"). */
json_t *shown_risks(const struct run_spec *s);
