/* run/stages.h — what it takes to run a program: checking its types, compiling it, running it. Runs in: keeper; pure.
 *
 * Each stage is a jar of its own. Those before the last are a preparation: they get the job's files and the compiler's
 * limits, arguments and environment, and nothing else of the caller's; what they make is put beside the job's files in the
 * jar of the run.
 *
 * Invariants
 * S1 No language is known by name here: stages follow from its declaration.
 * S2 A product is what the compiler left in its jar, as bytes under a name that was declared; never a link, never a mode. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "run/jar_run.h"

enum stage_kind { STAGE_CHECK, STAGE_COMPILE, STAGE_RUN, STAGES_MAX };

struct stages {
    enum stage_kind at[STAGES_MAX];
    size_t n; /* at least 1; the last is STAGE_RUN */
};
struct stages stages_of(const struct language *l, const struct run_options *w);

/* What the stage asks of the warden: `whole` with what differs. bundle_fd is the caller's to set. */
struct jar_request stage_request(enum stage_kind kind, const struct jar_request *whole);
/* ERR_NOT_FOUND when the language's toolchain is not on this machine. */
[[nodiscard]] int stage_installed(const struct language *l, struct err *e);

/* Names of the files that {sources} stands for; list and names are one piece of memory for free(). */
[[nodiscard]] int stage_sources(const struct language *l, const char *main_name,
                                const struct buf *bundle, char ***ret, struct err *e);
/* The bundle of the run: the job's files and what was made of them, which goes first where both have a name. */
[[nodiscard]] int stage_merge(const struct buf *files, const struct buf *made, struct buf *ret,
                              struct err *e);

/* How a preparation ended. */
struct preparation {
    enum stage_kind kind;
    enum verdict
        verdict; /* ok, compile_error, or which limit was met; cancelled and internal_error are the run's own */
    struct evidence evidence;
    struct usage usage;
    struct buf said[RUN_STREAMS]; /* all of it */
    bool truncated[RUN_STREAMS];
};
void preparation_done(struct preparation *p);
/* Takes what was said over. What the run is to say of a product that is missing is added to it. */
void preparation_end(struct preparation *ret, enum stage_kind kind, const struct language *l,
                     struct jar_run *r, struct buf said[RUN_STREAMS]);
/* Whether the run ends here, as compile_error. */
bool preparation_failed(const struct preparation *p);
/* The evidence and the verdict's exit code of a run that ends here. */
struct evidence preparation_evidence(const struct preparation *p);
/* A product may be more than the limits of its run take, which shows when it is put into the jar. That is a limit met by the
 * program, and no failure of ours: the caller's own files were measured before. True: r's end is now that; *ret_said is what the
 * run is to say of it. */
bool preparation_did_not_fit(struct jar_run *r, char *ret_said, size_t size);
/* For results; see api/meta/replies.c. key: of the cache, or NULL. */
json_t *preparation_json(const struct preparation *p, bool cached, const char *key);
