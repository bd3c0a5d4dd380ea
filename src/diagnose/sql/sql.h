/* diagnose/sql/sql.h — what is advised for every SQL. Private to this room. */
#pragma once

#include "diagnose/core/advice.h"

/* Names of SQL are the same in any case. */
bool sql_same(struct piece a, const char *b);
/* For rows; the name is in the first brackets. */
void sql_tell_table(const struct advising *a, const struct match *m);
void sql_tell_column(const struct advising *a, const struct match *m);
void sql_tell_ambiguous(const struct advising *a, const struct match *m);
void sql_tell_syntax(const struct advising *a, const struct match *m);
