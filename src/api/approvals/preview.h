/* api/approvals/preview.h — a run as its approver sees it. Runs in: keeper. Pure functions.
 *
 * Invariant
 * PREVIEW-1 No part of the input of the program is left out silently; a cut is marked. */
#pragma once

#include "engine/engine.h"

/* The whole input of the program: {language, code, args, env, stdin, stdin_open, files: [{name,
 * size, content}], entry, compiler_args, allow_commands, read_only, network, outputs, limits,
 * digest}. The digest covers all of it, also the parts that are cut. */
json_t *preview_input(const struct run_spec *s);
/* The findings of risks.h in all files. A finding in a file beside the main one names it ("file").
 * Arguments of a compiler are a risk (kind "compiler"), and so are input that follows later (kind
 * "more_input"), characters that are not seen (hidden.h), and each host of its network list (kind
 * "network", line 0). */
json_t *preview_risks(const struct run_spec *s);
