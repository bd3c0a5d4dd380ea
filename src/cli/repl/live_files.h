/* cli/repl/live_files.h — the command ':files' of `belljar repl`: the files of the session. main
 * reads the words and the files of the caller; the talker asks the service. */
#pragma once

#include "cli/repl/connections.h"

#define FILES_USAGE "get PATH [LOCAL] | put LOCAL [PATH] | rm PATH"

/* A question to the talker. Runs in: main. */
struct files_request {
    enum link_type type;
    struct buf bytes; /* the path; for ASK_FILE_PUT also a newline and the bytes of the file */
    char *save_as;    /* of ASK_FILE_GET */
    bool is_new;      /* save_as was not given, so no file of the caller is replaced */
};
void files_request_done(struct files_request *q);
/* From the words behind ':files', and the local file of a `put`. */
[[nodiscard]] int files_request_read(const char *text, struct files_request *ret, struct err *e);

/* Asks the service and prints its answer; the bytes of a file go to main. Runs in: the talker. */
[[nodiscard]] int files_answer(struct connections *c, const char *id, enum link_type type,
                               const struct buf *bytes, struct err *e);
