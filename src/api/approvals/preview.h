/* api/approvals/preview.h — a run as its approver sees it. Runs in: keeper. Pure functions.
 *
 * Invariant
 * PREVIEW-1 No part of the input of the program is left out silently; a cut is marked. */
#pragma once

#include "engine/engine.h"

/* The whole input of the program: {language, code, args, env, stdin, files: [{name, size,
 * content}], entry, compiler_args, allow_commands, read_only}. */
json_t *preview_input(const struct run_spec *s);
/* The findings of risks.h in all files. A finding in a file beside the main one names it ("file").
 * Arguments of a compiler are a risk (kind "compiler"). */
json_t *preview_risks(const struct run_spec *s);
