/* bench/budget.h — the bound of each number: one table for the verdict, the JSON and the tests.
 * Pure functions. A ratio is between numbers of one run on one machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum budget_sense { AT_MOST, AT_LEAST };

struct budget {
    const char *key; /* the parts report under this key */
    const char *what;
    enum budget_sense sense;
    double bound;
    const char *unit;
};
extern const struct budget budget_table[];
extern const size_t n_budget_table;

enum budget_verdict { BUDGET_PASS, BUDGET_MISS, BUDGET_NOT_MEASURED };
enum budget_verdict budget_judge(const struct budget *b, double value);
/* "pass", "MISS", "not measured" */
const char *budget_verdict_word(enum budget_verdict v);
