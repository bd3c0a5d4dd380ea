#include "guests/sql/pg_types.h"
#include "base/array.h"

static const struct {
    Oid type;
    const char *name;
    enum cell_kind kind;
} types[] = {
    { 16, "boolean", CELL_BOOL },
    { 17, "bytea", CELL_BLOB },
    { 18, "\"char\"", CELL_TEXT },
    { 19, "name", CELL_TEXT },
    { 20, "bigint", CELL_INTEGER },
    { 21, "smallint", CELL_INTEGER },
    { 23, "integer", CELL_INTEGER },
    { 25, "text", CELL_TEXT },
    { 26, "oid", CELL_INTEGER },
    { 28, "xid", CELL_TEXT },
    { 114, "json", CELL_TEXT },
    { 142, "xml", CELL_TEXT },
    { 600, "point", CELL_TEXT },
    { 601, "lseg", CELL_TEXT },
    { 602, "path", CELL_TEXT },
    { 603, "box", CELL_TEXT },
    { 604, "polygon", CELL_TEXT },
    { 628, "line", CELL_TEXT },
    { 650, "cidr", CELL_TEXT },
    { 700, "real", CELL_REAL },
    { 701, "double precision", CELL_REAL },
    { 705, "unknown", CELL_TEXT },
    { 718, "circle", CELL_TEXT },
    { 790, "money", CELL_TEXT },
    { 829, "macaddr", CELL_TEXT },
    { 869, "inet", CELL_TEXT },
    { 1000, "boolean[]", CELL_TEXT },
    { 1001, "bytea[]", CELL_TEXT },
    { 1003, "name[]", CELL_TEXT },
    { 1005, "smallint[]", CELL_TEXT },
    { 1007, "integer[]", CELL_TEXT },
    { 1009, "text[]", CELL_TEXT },
    { 1014, "character[]", CELL_TEXT },
    { 1015, "character varying[]", CELL_TEXT },
    { 1016, "bigint[]", CELL_TEXT },
    { 1021, "real[]", CELL_TEXT },
    { 1022, "double precision[]", CELL_TEXT },
    { 1042, "character", CELL_TEXT },
    { 1043, "character varying", CELL_TEXT },
    { 1082, "date", CELL_TEXT },
    { 1083, "time without time zone", CELL_TEXT },
    { 1114, "timestamp without time zone", CELL_TEXT },
    { 1184, "timestamp with time zone", CELL_TEXT },
    { 1186, "interval", CELL_TEXT },
    { 1231, "numeric[]", CELL_TEXT },
    { 1266, "time with time zone", CELL_TEXT },
    { 1560, "bit", CELL_TEXT },
    { 1562, "bit varying", CELL_TEXT },
    { 1700, "numeric", CELL_DECIMAL },
    { 2205, "regclass", CELL_TEXT },
    { 2206, "regtype", CELL_TEXT },
    { 2249, "record", CELL_TEXT },
    { 2278, "void", CELL_TEXT },
    { 2950, "uuid", CELL_TEXT },
    { 3614, "tsvector", CELL_TEXT },
    { 3615, "tsquery", CELL_TEXT },
    { 3802, "jsonb", CELL_TEXT },
    { 3904, "int4range", CELL_TEXT },
    { 3906, "numrange", CELL_TEXT },
    { 3908, "tsrange", CELL_TEXT },
    { 3912, "daterange", CELL_TEXT },
    { 3926, "int8range", CELL_TEXT },
};
enum { TYPES = ARRAY_LEN(types) };

const char *pg_type_name(Oid type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].name;
    return NULL;
}

enum cell_kind pg_type_kind(Oid type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].kind;
    return CELL_TEXT;
}
