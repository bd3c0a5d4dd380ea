/* diagnose/sql/sql.h — what is advised for every SQL. Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

/* Names of SQL are the same in any case. */
bool sql_same(struct piece a, const char *b);
/* For rows; the name is in the first brackets. */
void sql_advise_table(const struct advice *a);
void sql_advise_column(const struct advice *a);
void sql_advise_ambiguous(const struct advice *a);
void sql_advise_syntax(const struct advice *a);
