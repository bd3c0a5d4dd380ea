/* api/approvals/rules.h — the rules in memory, and the runs that they allow or deny. Runs in: keeper.
 *
 * Invariants
 * RULESET-1 A deny rule looks at everything that the program gets: code, names and contents of
 *           files, arguments, variables, stdin, stdin that is sent later, and the network list.
 * RULESET-2 An allow rule that a decision made holds for the requester of that run only. It allows
 *           the very same spec, one command with its first words, or a thread.
 * RULESET-4 An allow rule opens no network, unless it allows the very same spec.
 * RULESET-3 A rule of which this cannot be said is listed, with the reason, and allows nothing. */
#pragma once

#include "engine/engine.h"
#include "store/approval_rows.h"

enum { RULE_TEXT_MAX = STDIN_TEXT_MAX };

/* Takes over the row. */
[[nodiscard]] int rules_add(struct rule_rows *rules, struct rule_row *r, struct err *e);
void rules_remove(struct rule_rows *rules, const char *id);

/* The first rule that denies the run, or NULL. */
const struct rule_row *rules_denying(const struct rule_rows *rules, const struct run_spec *s);
/* The same for bytes that are about to be added to the stdin of a run. */
const struct rule_row *rules_denying_stdin(const struct rule_rows *rules, const struct run *run,
                                           const void *bytes, size_t n);
/* Whether a rule denies texts anywhere in a run such as this one. */
bool rules_look_inside(const struct rule_rows *rules, const struct run_spec *s);
const struct rule_row *rules_allowing(const struct rule_rows *rules, const struct run_spec *s);

/* Why the rule allows nothing although it says "allow"; false: it is in force. */
bool rule_is_void(const struct rule_row *r, char *ret_why, size_t size);
/* Whether the run is one command of bash, and gets nothing else. The error says why not. */
[[nodiscard]] int rule_command_of(const struct run_spec *s, char ***ret_words, struct err *e);
