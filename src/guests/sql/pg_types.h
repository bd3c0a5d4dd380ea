/* guests/sql/pg_types.h — PostgreSQL's built-in types by their numbers, which never change. Pure
 * data. */
#pragma once

#include <libpq-fe.h>

#include "guests/sql/cell.h"

/* NULL: not a built-in type. */
const char *pg_type_name(Oid type);
enum cell_kind pg_type_kind(Oid type);
