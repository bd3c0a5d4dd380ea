/* diagnose/sql/sql.h — rules that SQLite and PostgreSQL share. Runs in: keeper. Private to this
 * room. */
#pragma once

#include "diagnose/core/rules.h"

/* Whether two names of SQL are the same, in upper or lower case. */
bool sql_same(struct piece a, const char *b);
/* For rows; the name is in the first group. */
void sql_advise_table(const struct advice *a);
void sql_advise_column(const struct advice *a);
void sql_advise_ambiguous(const struct advice *a);
void sql_advise_syntax(const struct advice *a);
