/* cli/commands/audit_export.h — a sealed range of the audit log as a file that can be checked
 * elsewhere. Runs in: a command.
 *
 * Lines of JSON: {"belljar_audit":1,"before":HASH}, {"seals":LINE} for each line that the seal of the
 * last record needs, then a record a line. That seal binds the last record, and with it all
 * others. */
#pragma once

#include <sys/types.h>

#include "store/audit_log.h"

/* A new file that is removed again unless it is kept. */
struct export_file {
    int fd, keep_fd;
    pid_t remover; /* has the rights that the command gives up when it opens the database */
};
#define EXPORT_FILE_INIT        \
    {                           \
        .fd = -1, .keep_fd = -1 \
    }
[[nodiscard]] int export_file_make(struct export_file *f, const char *path, struct err *e);
[[nodiscard]] int export_file_keep(struct export_file *f, struct err *e);
void export_file_done(struct export_file *f);

/* Writes records from..to and the records behind them up to the next seal, of a log that was
 * checked. */
[[nodiscard]] int audit_export(struct db *db, const struct audit_seals *seals,
                               const struct audit_check *log, int64_t from, int64_t to, int fd,
                               struct err *e);
/* 0: it holds, and *ret_text says so; 1: *ret_text says why not; -1. key NULL: any first key. */
[[nodiscard]] int audit_export_check(int fd, const char *key, char *ret_text, size_t size,
                                     struct err *e);
