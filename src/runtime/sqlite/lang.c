/* runtime/sqlite/lang.c — the declaration of sqlite; see runtime/language.h. Pure data. */
#include "runtime/language.h"

static const struct warm warm[] = {
    { .zygote = { .name = "sqlite",
                  .files = WORDS("belljar-plain.so"),
                  .argv = WORDS("/opt/belljar/sqlite/sqlite", "--format", "table", "main.sql"),
                  .env = NO_WORDS,
                  .no_sockets = true } },
    { .imports = NULL },
};

DECLARE_LANGUAGE(sqlite) = {
    NAMED("sqlite", "main.sql", WORDS(".sql"), WORDS("sql", "sqlite3")),
    .command = WORDS("{guest}/sqlite/sqlite", "--format", "{format}", FILE_ARGUMENT),
    .session = WORDS("{guest}/sqlite/sqlite", "--session"),
    .forks = true,
    .rests = true,
    .reports = true,
    .no_sockets = NO_SOCKETS_IN_PROGRAM,
    .env = NO_WORDS,
    .version = WORDS("{guest}/sqlite/sqlite", "--version"),
    .install = "apt-get install libsqlite3-0",
    .warm = warm,
    .cold_env = WORDS("LD_*", "SQLITE_*"),
    .prompts = WORDS("!sqlite> ", "...> "),
    .hints = WORDS(
        "!^SELECT ", "!^CREATE TABLE", "!^INSERT INTO", "!^INSERT OR", "!^REPLACE INTO",
        "!^UPDATE ", "!^DELETE FROM", "!^DROP TABLE", "!^PRAGMA ", "!^WHERE ", "!^GROUP BY",
        "!^ORDER BY", "!^COMMIT;", "!^ROLLBACK", "!^HAVING ", "!^LEFT JOIN", "!^INNER JOIN",
        "!^CROSS JOIN", "!^FULL ", "!^JOIN ", "!^LIMIT ", "!^CREATE VIEW", "!^CREATE INDEX",
        "!^CREATE UNIQUE INDEX", "!^CREATE TRIGGER", "!^CREATE TEMP", "!^ALTER TABLE", "!^VALUES",
        "!^UNION", "!^EXCEPT", "!^INTERSECT", "!^EXPLAIN ", "!^BEGIN", "!^WITH ", "!^FROM ",
        "!^SET ", "!^CASE", "!^WHEN ", "!^ANALYZE", "!^VACUUM", "PRIMARY KEY", " NOT NULL",
        "!^select ", "!|select", "!|SELECT", "!^create table", "!^create view", "!^create index",
        "!^create trigger", "!^insert into", "!^insert or", "!^replace into", "!^update ",
        "!^delete from", "!^drop table", "!^pragma ", "!^group by", "!^order by", "!^having ",
        "!^left join", "!^inner join", "!^begin transaction", "!|begin;", "!^commit;", "!^rollback",
        "!^alter table", "!^Select ", "!^Create Table", "!^Insert Into", "primary key", " not null",
        "!^.mode", "!^.headers", "!^.tables", "!^.schema", "!^.import", "!AUTOINCREMENT",
        "!autoincrement", "!sqlite_", "!datetime('now'", "!date('now'", "!julianday(",
        "!group_concat(", "!GROUP_CONCAT(", "!ifnull(", "!IFNULL(", "!randomblob(",
        "!json_extract(", "!json_each(", "!WITHOUT ROWID", " OVER (", " over (", "|--", "-const ",
        "-print(", "-~:", "-~{", "-$this", "-console", "-=> ", "-^with open", "-echo ", "-return ",
        "-yield", "!^union all", "!|union", "^with ", "^from ", "^where ", "^limit ", "^values",
        "^explain ", "!^join ", "! strftime('", "!INTEGER PRIMARY KEY", "-^let ", "-^def ",
        "- import ", "-^import ", "-execute("),
};
