/* cli/commands/audit_export.h — a sealed range of the audit log as a file that can be checked
 * elsewhere. Runs in: a command.
 *
 * Lines of JSON: {"belljar_audit":1,"before":HASH}, {"seals":LINE} for each line of the seals up to
 * the one of the last record, then a record a line. The last seal binds the last record, and with it
 * all others. */
#pragma once

#include "store/audit_log.h"

/* Writes records from..to and the records behind them up to the next seal, of a log that was
 * checked. */
[[nodiscard]] int audit_export(struct db *db, const struct audit_seals *seals,
                               const struct audit_check *log, int64_t from, int64_t to, int fd,
                               struct err *e);
/* 0: it holds, and *ret_text says so; 1: *ret_text says why not; -1. key NULL: any first key. */
[[nodiscard]] int audit_export_check(int fd, const char *key, char *ret_text, size_t size,
                                     struct err *e);
