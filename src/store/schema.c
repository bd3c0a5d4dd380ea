/* store/schema.c — the tables, their versions, and the migration from one version to the next. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "store/db_query.h"

/* "BLJR" in the header of the file, by which file(1) and this program recognise it. */
enum { APPLICATION_ID = 0x424c4a52 };

/* `runs` has the columns that lists need and stays narrow. Large values are in append-only tables
 * beside it: the input when a run is accepted, the output when it is over. Each index serves a
 * filter of runs_list. The indexes of mostly-NULL columns, and that of the passing states, are
 * partial. */
static const char version_1[] =
    "CREATE TABLE runs ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL,"
    "  language TEXT, verdict TEXT, api_key TEXT, thread TEXT, artifact TEXT, batch TEXT,"
    "  surface TEXT, created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL DEFAULT 0,"
    "  finished_ms INTEGER NOT NULL DEFAULT 0, wall_us INTEGER NOT NULL DEFAULT 0,"
    "  cpu_us INTEGER NOT NULL DEFAULT 0, memory_peak INTEGER NOT NULL DEFAULT 0,"
    "  journal_in_file INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL) STRICT;"
    "CREATE INDEX runs_created ON runs (created_ms);"
    "CREATE INDEX runs_language ON runs (language);"
    "CREATE INDEX runs_verdict ON runs (verdict) WHERE verdict IS NOT NULL;"
    "CREATE INDEX runs_api_key ON runs (api_key) WHERE api_key IS NOT NULL;"
    "CREATE INDEX runs_thread ON runs (thread) WHERE thread IS NOT NULL;"
    "CREATE INDEX runs_artifact ON runs (artifact) WHERE artifact IS NOT NULL;"
    "CREATE INDEX runs_batch ON runs (batch) WHERE batch IS NOT NULL;"
    "CREATE INDEX runs_state ON runs (state) WHERE state <> 'finished';"
    "CREATE TABLE run_input (seq INTEGER PRIMARY KEY, code TEXT, request TEXT) STRICT;"
    "CREATE TABLE run_output (seq INTEGER PRIMARY KEY, result TEXT, journal BLOB, files BLOB)"
    "  STRICT;"
    "CREATE TABLE run_totals (language TEXT, verdict TEXT, n INTEGER NOT NULL,"
    "  wall_us_sum INTEGER NOT NULL, wall_us_max INTEGER NOT NULL, cpu_us_sum INTEGER NOT NULL,"
    "  memory_peak_max INTEGER NOT NULL, PRIMARY KEY (language, verdict)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO counters VALUES ('run_bytes', 0);"
    "CREATE TABLE doomed_files (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;"

    "CREATE TABLE audit ("
    "  seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, kind TEXT NOT NULL,"
    "  subject TEXT NOT NULL, actor TEXT NOT NULL, detail TEXT NOT NULL, hash BLOB NOT NULL)"
    "  STRICT;"

    "CREATE TABLE approvals ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, thread TEXT, run TEXT,"
    "  tool TEXT, input TEXT, risks TEXT, reason TEXT, decision TEXT NOT NULL, decided_by TEXT,"
    "  decided_reason TEXT, edited_input TEXT, remember TEXT, created_ms INTEGER NOT NULL,"
    "  expires_ms INTEGER NOT NULL, decided_ms INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX approvals_thread ON approvals (thread, decision);"
    "CREATE INDEX approvals_decision ON approvals (decision);"
    "CREATE TABLE rules ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, action TEXT NOT NULL,"
    "  thread TEXT, tool TEXT, language TEXT, match TEXT NOT NULL, text TEXT, made_by TEXT,"
    "  created_ms INTEGER NOT NULL) STRICT;"

    "CREATE TABLE artifacts ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, conversation TEXT,"
    "  language TEXT, type TEXT, parent TEXT, version INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,"
    "  deleted_ms INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX artifacts_conversation ON artifacts (conversation)"
    "  WHERE conversation IS NOT NULL;"
    "CREATE TABLE artifact_versions ("
    "  artifact INTEGER NOT NULL REFERENCES artifacts (seq), version INTEGER NOT NULL,"
    "  title TEXT, content TEXT, created_ms INTEGER NOT NULL, PRIMARY KEY (artifact, version))"
    "  STRICT;"

    "CREATE TABLE keys ("
    "  name TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL,"
    "  max_runs INTEGER NOT NULL, created_ms INTEGER NOT NULL) STRICT;";

/* Artifacts belong to a key and take a bounded number of bytes (512 more for each version). Older
 * ones have no owner, so only `admin` changes them. A deleted artifact leaves no row. */
static const char artifact_owners[] =
    "DELETE FROM artifact_versions"
    "  WHERE artifact IN (SELECT seq FROM artifacts WHERE deleted_ms <> 0);"
    "DELETE FROM artifacts WHERE deleted_ms <> 0;"
    "ALTER TABLE artifacts ADD COLUMN owner TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE artifact_owners (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL)"
    "  STRICT, WITHOUT ROWID;"
    "INSERT INTO artifact_owners SELECT '', coalesce(sum(length(CAST(title AS BLOB)) +"
    "  length(CAST(content AS BLOB)) + 512), 0) FROM artifact_versions;";

/* Rules are bound to the requester whose run was approved. Earlier rules for a session do not know
 * theirs, so they hold for nobody. */
static const char rules_of_requesters[] =
    "ALTER TABLE approvals ADD COLUMN requester TEXT;"
    "ALTER TABLE rules ADD COLUMN requester TEXT;"
    "UPDATE rules SET requester = '' WHERE action = 'allow' AND thread IS NOT NULL;";

/* Once a key existed, the service is never open to callers without one. */
static const char keys_existed[] =
    "INSERT OR REPLACE INTO counters SELECT 'keys_existed', 1"
    "  WHERE EXISTS (SELECT 1 FROM keys) OR EXISTS (SELECT 1 FROM audit WHERE kind = 'key.added');";

/* The bytes of the history by key ("": without one), in place of one total. A decided approval goes
 * with its run. */
static const char run_owners[] =
    "CREATE TABLE run_owners (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL)"
    "  STRICT, WITHOUT ROWID;"
    "INSERT INTO run_owners SELECT coalesce(api_key, ''), sum(bytes) FROM runs GROUP BY 1;"
    "DELETE FROM counters WHERE name = 'run_bytes';"
    "CREATE INDEX approvals_run ON approvals (run) WHERE run IS NOT NULL;";

/* Sessions. Their cells are runs whose thread is the id of the session. */
static const char sessions[] =
    "CREATE TABLE sessions ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, api_key TEXT, name TEXT,"
    "  language TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL DEFAULT 0,"
    "  reason TEXT, cells INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX sessions_open ON sessions (ended_ms);";

/* Images of sessions: each row is a file in data/images. A session may have come from another one,
 * and it may sleep in an image; `spec` then has everything that its client asked for. */
static const char images[] =
    "CREATE TABLE images ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, api_key TEXT,"
    "  kind TEXT NOT NULL, session TEXT, name TEXT, language TEXT NOT NULL, bases TEXT,"
    "  detail TEXT, cell INTEGER NOT NULL, bytes INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
    "  digest BLOB NOT NULL, stamp BLOB NOT NULL) STRICT;"
    "ALTER TABLE sessions ADD COLUMN parent TEXT;"
    "ALTER TABLE sessions ADD COLUMN parent_cell INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE sessions ADD COLUMN parent_image TEXT;"
    "ALTER TABLE sessions ADD COLUMN image TEXT;"
    "ALTER TABLE sessions ADD COLUMN spec TEXT;";

/* The request that made a template, to make it again. */
static const char templates[] = "CREATE TABLE template_requests (image TEXT PRIMARY KEY,"
                                "  request TEXT NOT NULL) STRICT;";

/* A session that goes on with the program of a copy: the cells of the copy are cells of it, too. */
static const char adopted_sessions[] =
    "ALTER TABLE sessions ADD COLUMN adopted_by TEXT;"
    "CREATE INDEX sessions_adopted ON sessions (adopted_by) WHERE adopted_by IS NOT NULL;";

/* The rollbacks of a session, and its copies. */
static const char rollbacks[] =
    "ALTER TABLE sessions ADD COLUMN rollbacks TEXT;"
    "CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;";

/* How the file of an image is stored: compressed, encrypted, or NULL for its bytes as they are. */
static const char image_forms[] = "ALTER TABLE images ADD COLUMN form TEXT;";

/* The scripts that migrate a database from each version to the next. Rows are added, never
 * changed. */
static const char *const migrations[] = { version_1,    artifact_owners, rules_of_requesters,
                                          keys_existed, run_owners,      sessions,
                                          images,       templates,       adopted_sessions,
                                          rollbacks,    image_forms };
enum { SCHEMA_VERSION = ARRAY_LEN(migrations) };

int schema_check(struct db *db, struct err *e)
{
    int64_t version, application, tables;
    if (sql_number(db, "PRAGMA user_version", &version, e) ||
        sql_number(db, "PRAGMA application_id", &application, e) ||
        sql_number(db, "SELECT count(*) FROM sqlite_schema", &tables, e))
        return -1;
    bool empty = version == 0 && application == 0 && tables == 0;
    if (empty && db->mode == DB_READ)
        return err_set(e, ERR_NOT_FOUND, 0, "%s is empty: 'belljar serve' creates its tables",
                       db->path);
    if (!empty && application != APPLICATION_ID)
        return err_set(
            e, ERR_KERNEL, 0,
            "%s is the database of another program: move it away, or name another state directory",
            db->path);
    if (version > SCHEMA_VERSION)
        return err_set(e, ERR_KERNEL, 0,
                       "%s has schema %lld, this program supports up to %d: use a newer belljar",
                       db->path, (long long)version, SCHEMA_VERSION);
    if (db->mode == DB_READ && version < SCHEMA_VERSION)
        return err_set(e, ERR_KERNEL, 0,
                       "%s has schema %lld, this program reads %d: 'belljar serve' updates it",
                       db->path, (long long)version, SCHEMA_VERSION);
    return 0;
}

/* Another process may have migrated the database meanwhile, so the version is read again inside the
 * transaction. */
static int migrate_one(struct db *db, bool *ret_more, struct err *e)
{
    int64_t version;
    char mark[96];
    if (sql_number(db, "PRAGMA user_version", &version, e))
        return -1;
    if (version >= SCHEMA_VERSION) {
        *ret_more = false;
        return 0;
    }
    (void)snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %lld;",
                   APPLICATION_ID, (long long)version + 1);
    return sql_script(db, migrations[version], e) || sql_script(db, mark, e) ? -1 : 0;
}

/* Without WAL, readers and the writer would wait for each other. SQLite does not fail here; it
 * answers with the mode in use. */
static int use_wal(struct db *db, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_prepare(&q, db, "PRAGMA journal_mode = WAL", e) || query_step(&q, e) < 0)
        return -1;
    const char *mode = peek_text(&q, NULL);
    return strcmp(mode, "wal") == 0
               ? 0
               : err_set(e, ERR_UNAVAILABLE, 0,
                         "%s cannot be shared (its journal is '%s', not 'wal'): put the state "
                         "directory on a local disk",
                         db->path, mode);
}

int schema_update(struct db *db, struct err *e)
{
    if (use_wal(db, e)) /* only after the check that the file is ours or new */
        return -1;
    for (bool more = true; more;) {
        if (db_begin(db, e))
            return -1;
        if (migrate_one(db, &more, e) || db_commit(db, e)) {
            db_rollback(db);
            return err_wrap(e, "bring the schema up to date");
        }
    }
    return 0;
}
