/* store/statements.c — the text of every fixed statement. */
#include "store/approval_columns.h"
#include "store/db_query.h"
#include "store/run_columns.h"

#define ARTIFACT_FROM                                                                       \
    "SELECT a.seq, a.id, a.owner, a.conversation, v.title, v.content, a.language, a.type, " \
    "a.parent, v.version, a.created_ms, a.updated_ms FROM artifacts a "                     \
    "JOIN artifact_versions v ON v.artifact = a.seq AND v.version = a.version WHERE "
#define ARTIFACT_OWNED " AND (?2 IS NULL OR a.owner = ?2)"
#define BOUND_RUN      "r.language, r.api_key, r.thread, r.artifact, r.batch, r.surface, r.created_ms"
#define BOUND_APPROVAL "thread, run, tool, input, risks, reason, requester, created_ms, expires_ms"
#define OVER           "state IN ('finished', 'interrupted')"

/* About as much as the row of a record takes in the file. */
#define AUDIT_BYTES                                                      \
    "64 + length(CAST(kind AS BLOB)) + length(CAST(subject AS BLOB)) + " \
    "length(CAST(actor AS BLOB)) + length(CAST(detail AS BLOB))"

/* The service may have died while it wrote the output file of an interrupted run. */
#define MAY_HAVE_FILE "journal_in_file OR state = 'interrupted'"

/* The cells of session ?1: its own, and those of the copies whose program it goes on with. */
#define OF_SESSION                                                                     \
    "r.thread IN (SELECT ?1 UNION ALL SELECT id FROM sessions WHERE adopted_by = ?1) " \
    "AND r.surface = 'session'"

#define SESSION_COLUMNS                                                                        \
    "id, api_key, name, language, created_ms, ended_ms, reason, cells, parent, parent_image, " \
    "parent_cell, rollbacks"

const char *const sql_texts[SQL_COUNT_] = {
    [SQL_BEGIN_READ] = "BEGIN",
    /* IMMEDIATE: writers wait for each other at the start of a transaction, where waiting is
     * possible. */
    [SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_SAVEPOINT] = "SAVEPOINT job",
    [SQL_RELEASE] = "RELEASE job",
    [SQL_UNDO] = "ROLLBACK TO job",

    [SQL_RUN_INSERT] =
        "INSERT INTO runs (id, state, language, api_key, thread, artifact, batch, surface, "
        "created_ms, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq",
    [SQL_RUN_INPUT_INSERT] = "INSERT INTO run_input (seq, code, request) VALUES (?, ?, ?)",
    [SQL_RUN_INPUT_REPLACE] = "UPDATE run_input SET code = coalesce(?, code), "
                              "request = coalesce(?, request) WHERE seq = ?",
    [SQL_RUN_INPUT_SIZE] =
        "SELECT coalesce(length(CAST(code AS BLOB)), 0) + "
        "coalesce(length(CAST(request AS BLOB)), 0) FROM run_input WHERE seq = ?",
    [SQL_RUN_OUTPUT_INSERT] =
        "INSERT INTO run_output (seq, result, journal, files) VALUES (?, ?, ?, ?)",
    [SQL_RUN_FINISH] =
        "UPDATE runs SET state = 'finished', verdict = ?, "
        "started_ms = iif(?2 > 0, ?2, started_ms), finished_ms = ?, wall_us = ?, cpu_us = ?, "
        "memory_peak = ?, journal_in_file = ?, bytes = bytes + ? "
        "WHERE id = ? AND state <> 'finished' RETURNING seq, language, api_key",
    [SQL_RUN_STATE] = "SELECT state FROM runs WHERE id = ?",
    [SQL_RUN_GET] = "SELECT " RUN_COLUMNS ", i.code, i.request, o.result FROM runs r "
                    "LEFT JOIN run_input i ON i.seq = r.seq "
                    "LEFT JOIN run_output o ON o.seq = r.seq WHERE r.id = ?",
    [SQL_RUN_CREATED] = "SELECT created_ms FROM runs WHERE seq = ?",
    [SQL_RUN_BLOBS] = "SELECT iif(?, journal, NULL), iif(?, files, NULL) FROM run_output "
                      "WHERE seq = ?",
    [SQL_RUN_INTERRUPT] = "UPDATE runs SET state = 'interrupted', finished_ms = ?1 "
                          "WHERE state <> 'finished' AND state IN ('queued', 'running') "
                          "AND id NOT IN (SELECT value FROM json_each(coalesce(?2, '[]')))",
    [SQL_RUN_TOTAL_ADD] =
        "INSERT INTO run_totals VALUES (coalesce(?1, ''), coalesce(?2, ''), 1, ?3, ?3, ?4, ?5) "
        "ON CONFLICT DO UPDATE SET n = n + 1, wall_us_sum = wall_us_sum + ?3, "
        "wall_us_max = max(wall_us_max, ?3), cpu_us_sum = cpu_us_sum + ?4, "
        "memory_peak_max = max(memory_peak_max, ?5)",
    [SQL_RUN_TOTALS] = "SELECT language, verdict, n, wall_us_sum, wall_us_max, cpu_us_sum, "
                       "memory_peak_max FROM run_totals ORDER BY language, verdict",
    [SQL_RUN_TOTALS_SINCE] =
        "SELECT language, verdict, count(*), sum(wall_us), max(wall_us), sum(cpu_us), "
        "max(memory_peak) FROM runs WHERE created_ms >= ? AND +state = 'finished' "
        "GROUP BY +language, +verdict ORDER BY +language, +verdict",
    [SQL_RUN_BYTES_ADD] = "INSERT INTO run_owners VALUES (coalesce(?1, ''), ?2) "
                          "ON CONFLICT DO UPDATE SET bytes = bytes + ?2",
    [SQL_RUN_OWNERS_EMPTY] = "DELETE FROM run_owners WHERE bytes <= ?", /* 0 */
    [SQL_RUN_CHARGE] = "UPDATE runs SET bytes = bytes + ? WHERE id = ? RETURNING api_key",
    [SQL_RUN_LARGEST_OWNERS] = "SELECT owner, bytes FROM run_owners ORDER BY bytes DESC LIMIT 2",
    [SQL_RUN_OLDEST_OF_KEY] = "SELECT seq, bytes, " MAY_HAVE_FILE ", api_key FROM runs "
                              "WHERE api_key = ? AND +" OVER " ORDER BY seq LIMIT ?",
    [SQL_RUN_OLDEST_WITHOUT_KEY] = "SELECT seq, bytes, " MAY_HAVE_FILE ", api_key FROM runs "
                                   "WHERE api_key IS NULL AND +" OVER " ORDER BY seq LIMIT ?",
    [SQL_APPROVALS_OF_RUN_DELETE] =
        "DELETE FROM approvals WHERE run = (SELECT id FROM runs WHERE seq = ?) "
        "AND decision <> 'pending' RETURNING id",
    [SQL_RUN_ROW_BYTES_ADD] = "UPDATE runs SET bytes = bytes + ? WHERE seq = ?",
    [SQL_RUN_BYTES] = "SELECT coalesce(sum(bytes), 0) FROM run_owners",
    [SQL_RUN_OLDER] = "SELECT seq, bytes, " MAY_HAVE_FILE ", api_key FROM runs "
                      "WHERE created_ms < ? AND +" OVER " ORDER BY created_ms LIMIT ?",
    [SQL_RUN_OLDEST] = "SELECT seq, bytes, " MAY_HAVE_FILE ", api_key FROM runs WHERE +" OVER
                       " ORDER BY seq LIMIT ?",
    [SQL_RUN_DELETE] = "DELETE FROM runs WHERE seq = ? RETURNING id",
    [SQL_RUN_INPUT_DELETE] = "DELETE FROM run_input WHERE seq = ?",
    [SQL_RUN_OUTPUT_DELETE] = "DELETE FROM run_output WHERE seq = ?",
    [SQL_DOOMED_ADD] = "INSERT OR IGNORE INTO doomed_files SELECT id FROM runs WHERE seq = ?",
    [SQL_DOOMED_LIST] = "SELECT id FROM doomed_files LIMIT ?",
    [SQL_DOOMED_DELETE] = "DELETE FROM doomed_files WHERE id = ?",

    [SQL_AUDIT_HEAD] = "SELECT seq, hash, (SELECT min(seq) FROM audit) FROM audit "
                       "ORDER BY seq DESC LIMIT 1",
    [SQL_AUDIT_INSERT] = "INSERT INTO audit (seq, time_ms, kind, subject, actor, detail, hash) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?)",
    [SQL_AUDIT_AFTER] = "SELECT seq, time_ms, kind, subject, actor, detail, hash FROM audit "
                        "WHERE seq > ? ORDER BY seq LIMIT ?",

    [SQL_AUDIT_DOWN] = "SELECT seq, time_ms, kind, subject, detail FROM audit ORDER BY seq DESC",
    [SQL_AUDIT_COUNT] = "SELECT coalesce(max(seq), 0), coalesce(sum(bytes), 0), count(*) FROM "
                        "(SELECT seq, " AUDIT_BYTES " AS bytes FROM audit WHERE seq > ? "
                        "ORDER BY seq LIMIT ?)",
    /* The last record stays: the next one is numbered after it. */
    [SQL_AUDIT_OLDEST] = "SELECT seq, time_ms, kind, subject, actor, detail, hash, " AUDIT_BYTES
                         " FROM audit WHERE seq <= ? AND seq < (SELECT max(seq) FROM audit) "
                         "ORDER BY seq LIMIT ?",
    [SQL_AUDIT_OLDEST_TIME] = "SELECT time_ms FROM audit ORDER BY seq LIMIT 1",
    [SQL_AUDIT_REMOVE] = "DELETE FROM audit WHERE seq <= ?",
    [SQL_AUDIT_REMOVAL] = "SELECT seq, time_ms, detail FROM audit WHERE kind = 'audit.removed' "
                          "ORDER BY seq DESC LIMIT 1",

    /* Only columns that do not change after the record. journal_in_file stands first, see
     * row_digest(). */
    [SQL_BOUND_RUNS] = "SELECT id, created_ms FROM runs",
    [SQL_BOUND_APPROVALS] = "SELECT id, created_ms FROM approvals",
    [SQL_BOUND_RULES] = "SELECT id, created_ms FROM rules",
    [SQL_BOUND_KEYS] = "SELECT name, created_ms FROM keys",
    [SQL_BOUND_ARTIFACTS] = "SELECT id, created_ms FROM artifacts",
    [SQL_BOUND_RUN_ACCEPTED] = "SELECT " BOUND_RUN ", i.code, i.request FROM runs r "
                               "JOIN run_input i ON i.seq = r.seq WHERE r.id = ?",
    [SQL_BOUND_RUN_FINISHED] =
        "SELECT r.journal_in_file, r.verdict, r.finished_ms, " BOUND_RUN ", i.code, i.request, "
        "o.result, o.journal, o.files FROM runs r JOIN run_input i ON i.seq = r.seq "
        "JOIN run_output o ON o.seq = r.seq WHERE r.id = ?",
    [SQL_BOUND_APPROVAL_REQUESTED] = "SELECT " BOUND_APPROVAL " FROM approvals WHERE id = ?",
    [SQL_BOUND_APPROVAL_DECIDED] =
        "SELECT " BOUND_APPROVAL ", decision, decided_by, decided_reason, edited_input, remember, "
        "decided_ms FROM approvals WHERE id = ?",
    [SQL_BOUND_RULE] = "SELECT action, thread, tool, language, match, text, made_by, created_ms, "
                       "requester FROM rules WHERE id = ?",
    [SQL_BOUND_KEY] = "SELECT hash, scopes, max_runs, created_ms FROM keys WHERE name = ?",
    [SQL_BOUND_ARTIFACT] =
        "SELECT a.conversation, a.language, a.type, a.parent, a.version, a.owner, a.created_ms, "
        "v.title, v.content FROM artifacts a JOIN artifact_versions v "
        "ON v.artifact = a.seq AND v.version = a.version WHERE a.id = ?",
    [SQL_RUN_IS_OPEN] = "SELECT 1 FROM runs WHERE id = ? AND state <> 'finished'",
    [SQL_RUN_IS_FINISHED] = "SELECT 1 FROM runs WHERE id = ? AND state = 'finished'",
    [SQL_APPROVAL_IS_PENDING] = "SELECT 1 FROM approvals WHERE id = ? AND decision = 'pending'",

    [SQL_APPROVAL_INSERT] =
        "INSERT INTO approvals (id, thread, run, tool, input, risks, reason, decision, "
        "created_ms, expires_ms, requester) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_APPROVAL_GET] = "SELECT " APPROVAL_COLUMNS " FROM approvals WHERE id = ?",
    [SQL_APPROVAL_PENDING_OF] = "SELECT " APPROVAL_COLUMNS " FROM approvals "
                                "WHERE thread = ? AND decision = 'pending' ORDER BY seq LIMIT 1",
    [SQL_APPROVAL_DECIDE] =
        "UPDATE approvals SET decision = ?1, decided_by = ?, decided_reason = ?, "
        "edited_input = ?, remember = ?, decided_ms = ?6 WHERE id = ? AND decision = 'pending' "
        "AND (expires_ms = 0 OR expires_ms > ?6 OR ?1 = 'expired')",
    [SQL_RULE_INSERT] = "INSERT INTO rules (id, action, thread, tool, language, match, text, "
                        "made_by, created_ms, requester) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_RULE_DELETE] = "DELETE FROM rules WHERE id = ?",
    [SQL_RULE_LIST] = "SELECT seq, id, action, thread, tool, language, match, text, made_by, "
                      "created_ms, requester FROM rules ORDER BY seq",

    [SQL_ARTIFACT_INSERT] =
        "INSERT INTO artifacts (id, owner, conversation, language, type, parent, version, "
        "created_ms, updated_ms) VALUES (?, ?, ?, ?, ?, ?, 1, ?7, ?7) RETURNING seq",
    [SQL_ARTIFACT_VERSION_INSERT] = "INSERT INTO artifact_versions (artifact, version, title, "
                                    "content, created_ms) VALUES (?, ?, ?, ?, ?)",
    [SQL_ARTIFACT_GET] = ARTIFACT_FROM "a.id = ?1" ARTIFACT_OWNED,
    [SQL_ARTIFACT_UPDATE] = "UPDATE artifacts SET version = ?, updated_ms = ? WHERE seq = ?",
    [SQL_ARTIFACT_DELETE] = "DELETE FROM artifacts WHERE seq = ?",
    [SQL_ARTIFACT_VERSIONS_DELETE] = "DELETE FROM artifact_versions WHERE artifact = ?",
    [SQL_ARTIFACT_SIZE] =
        "SELECT coalesce(sum(length(CAST(title AS BLOB)) + length(CAST(content AS BLOB)) + ?), 0) "
        "FROM artifact_versions WHERE artifact = ?",
    [SQL_ARTIFACT_BYTES] = "SELECT coalesce(sum(iif(owner = ?, bytes, 0)), 0), "
                           "coalesce(sum(bytes), 0) FROM artifact_owners",
    [SQL_ARTIFACT_OWNER_ADD] = "INSERT INTO artifact_owners VALUES (?1, ?2) "
                               "ON CONFLICT DO UPDATE SET bytes = max(0, bytes + ?2)",
    [SQL_ARTIFACT_OF_CONVERSATION] = ARTIFACT_FROM "a.conversation = ?1" ARTIFACT_OWNED
                                                   " ORDER BY a.seq DESC",
    [SQL_ARTIFACT_LIST] =
        "SELECT a.seq, a.id, a.owner, a.conversation, v.title, '', a.language, a.type, "
        "a.parent, v.version, a.created_ms, a.updated_ms FROM artifacts a "
        "JOIN artifact_versions v ON v.artifact = a.seq AND v.version = a.version "
        "WHERE a.seq < CAST(?1 AS INTEGER)" ARTIFACT_OWNED " ORDER BY a.seq DESC LIMIT 100",
    [SQL_ARTIFACT_VERSIONS] =
        "SELECT a.seq, a.id, a.owner, a.conversation, v.title, v.content, a.language, a.type, "
        "a.parent, v.version, v.created_ms, v.created_ms FROM artifacts a "
        "JOIN artifact_versions v ON v.artifact = a.seq "
        "WHERE a.id = ?1" ARTIFACT_OWNED " ORDER BY v.version",

    [SQL_KEY_INSERT] =
        "INSERT INTO keys (name, hash, scopes, max_runs, created_ms) VALUES (?, ?, ?, ?, ?)",
    [SQL_KEYS_EXISTED] = "SELECT value FROM counters WHERE name = 'keys_existed'",
    [SQL_KEYS_EXISTED_SET] = "INSERT OR REPLACE INTO counters VALUES ('keys_existed', 1)",
    [SQL_SESSION_INSERT] = "INSERT INTO sessions (id, api_key, name, language, created_ms, parent, "
                           "parent_image, parent_cell) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_SESSION_ROLL_BACK] =
        "UPDATE sessions SET rollbacks = json_insert(coalesce(rollbacks, '[]'), '$[#]', "
        "json_object('last', ?2, 'to', ?3, 'at_ms', ?4, 'kind', ?5)) WHERE id = ?1 "
        "AND coalesce(json_extract(rollbacks, '$[#-1].at_ms'), 0) <> ?4",
    [SQL_SESSION_TREE] =
        "WITH RECURSIVE up (id, parent) AS (SELECT id, parent FROM sessions WHERE id = ?1 "
        "UNION SELECT s.id, s.parent FROM sessions s JOIN up ON s.id = up.parent), "
        "down (id) AS (SELECT id FROM up UNION "
        "SELECT s.id FROM sessions s JOIN down ON s.parent = down.id) "
        "SELECT " SESSION_COLUMNS " FROM sessions WHERE id IN (SELECT id FROM down) ORDER BY seq",
    [SQL_SESSION_FINISH] = "UPDATE sessions SET ended_ms = ?, reason = ?, cells = ?, "
                           "adopted_by = ? WHERE id = ?",
    [SQL_SESSION_SET_ADOPTED] =
        "UPDATE sessions SET adopted_by = ?1 WHERE id = ?2 AND adopted_by IS NULL "
        "AND api_key IS (SELECT api_key FROM sessions WHERE id = ?1)",
    [SQL_SESSION_GET] = "SELECT " SESSION_COLUMNS " FROM sessions WHERE id = ?",
    [SQL_SESSION_ENDED] = "SELECT " SESSION_COLUMNS
                          " FROM sessions WHERE ended_ms > 0 AND (?1 IS NULL OR api_key = ?1) "
                          "ORDER BY seq DESC LIMIT ?2",
    [SQL_SESSION_LOSE] = "UPDATE sessions SET ended_ms = ?1, reason = ?2 WHERE ended_ms = 0 "
                         "AND image IS NULL "
                         "AND id NOT IN (SELECT value FROM json_each(coalesce(?3, '[]')))",
    [SQL_SESSION_CELLS] = "SELECT coalesce(max(json_extract(i.request, '$.cell')), 0) FROM runs r "
                          "JOIN run_input i ON i.seq = r.seq WHERE " OF_SESSION,
    [SQL_SESSION_CELL] =
        "SELECT r.id FROM runs r JOIN run_input i ON i.seq = r.seq WHERE " OF_SESSION
        " AND json_extract(i.request, '$.cell') = ?2",
    [SQL_SESSION_CELLS_AFTER] =
        "SELECT r.id FROM runs r JOIN run_input i ON i.seq = r.seq WHERE " OF_SESSION
        " AND json_extract(i.request, '$.cell') > ?2 ORDER BY r.seq LIMIT ?3",
    [SQL_SESSION_CELLS_NEWEST] = "SELECT r.id FROM runs r WHERE " OF_SESSION
                                 " ORDER BY r.seq DESC LIMIT ?2",
    [SQL_SESSION_LANGUAGES] = "SELECT DISTINCT language FROM sessions WHERE created_ms >= ?",
    [SQL_SESSION_SET_IMAGE] =
        "UPDATE sessions SET image = ?, spec = ?, cells = ? WHERE id = ? AND ended_ms = 0",
    [SQL_SESSION_SLEEPING] = "SELECT " SESSION_COLUMNS ", image, spec, seq "
                             "FROM sessions WHERE ended_ms = 0 AND image IS NOT NULL "
                             "AND seq > ?1 ORDER BY seq LIMIT ?2",
    [SQL_SESSION_RETAIN] = "DELETE FROM sessions WHERE ended_ms > 0 AND ended_ms < ?",
    [SQL_IMAGE_INSERT] = "INSERT INTO images (id, api_key, kind, session, name, language, bases, "
                         "detail, form, cell, bytes, created_ms, digest, stamp) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_IMAGE_DELETE] = "DELETE FROM images WHERE id = ?",
    [SQL_IMAGE_DEMOTE] = "UPDATE images SET kind = 'base', bases = NULL WHERE id = ?",
    [SQL_IMAGE_LIST] = "SELECT id, api_key, kind, session, name, language, bases, detail, form, "
                       "cell, bytes, created_ms, digest, stamp FROM images ORDER BY seq",
    [SQL_TEMPLATE_INSERT] = "INSERT INTO template_requests (image, request) VALUES (?, ?)",
    [SQL_TEMPLATE_DELETE] = "DELETE FROM template_requests WHERE image = ?",
    [SQL_TEMPLATE_GET] = "SELECT request FROM template_requests WHERE image = ?",
    [SQL_PROBE] = "INSERT OR REPLACE INTO counters VALUES ('probe', ?)",
    [SQL_KEY_DELETE] = "DELETE FROM keys WHERE name = ?",
    [SQL_KEY_LIST] = "SELECT name, hash, scopes, max_runs, created_ms FROM keys ORDER BY name",
};
