/* run/stages.h — the stages of a run: check the types, compile, run the program.
 * Runs in: keeper; pure.
 *
 * Each stage has a jar of its own. The stages before the program get the files of the job and the
 * limits, arguments and environment of the compiler, and nothing else from the caller. Their
 * products join the files of the job in the jar of the program.
 *
 * Invariants
 * STAGES-1 No code here knows a language by name: the stages follow from its declaration.
 * STAGES-2 A product is a file that the compiler left in its jar under a declared name. Only its
 *          bytes are used, never a link and never a mode.
 * STAGES-3 A run ends as compile_error because of the evidence from the jar of the compiler, never
 *          because of its output. The program starts only if every stage before it ended well and
 *          the run was not cancelled. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "run/jar_run.h"

enum stage { STAGE_CHECK, STAGE_COMPILE, STAGE_RUN, STAGES_MAX };

struct stages {
    enum stage at[STAGES_MAX];
    size_t n; /* at least 1; the last is STAGE_RUN */
};
struct stages stages_of(const struct language *l, const struct run_options *options);

/* Whether the program runs with a debugger, because it tells its values in no other way. */
bool stage_is_debugged(const struct language *l, const struct run_options *o);
/* The request for the jar of one stage. `whole` is the request for the program, with a bundle_fd
 * that fits this stage. */
struct jar_request stage_request(enum stage stage, const struct jar_request *whole);
/* ERR_NOT_FOUND if the toolchain of the language is not installed. */
[[nodiscard]] int stage_installed(const struct language *l, struct err *e);

/* The names of the files that {sources} stands for. The list and its names are one allocation. */
[[nodiscard]] int stage_sources(const struct language *l, const char *main_name,
                                const struct buf *bundle, char ***ret, struct err *e);
/* Divides the files of a run by BUNDLE_RUN_ONLY: files that its compiler sees, and the others. False
 * in *ret_has if there are no others; then nothing is copied. */
[[nodiscard]] int stage_split(const struct buf *files, bool *ret_has, struct buf *ret_compiled,
                              struct buf *ret_run_only, struct err *e);
/* The files of a compiled program with the files that its compiler did not see. A product stands for
 * a file of its name. */
[[nodiscard]] int stage_join(const struct buf *program, const struct buf *run_only, struct buf *ret,
                             struct err *e);
/* The bundle for the program: the files of the job and the products. If both have a file of the
 * same name, the product wins. */
[[nodiscard]] int stage_merge(const struct buf *files, const struct buf *products, struct buf *ret,
                              struct err *e);

/* The end of a stage before the program. */
struct stage_result {
    enum stage stage;
    /* ok, compile_error, or the limit that the stage reached. The verdicts cancelled and
     * internal_error belong to the whole run. */
    enum verdict verdict;
    struct evidence evidence;
    struct usage usage;
    struct buf output[RUN_STREAMS]; /* complete */
    bool truncated[RUN_STREAMS];
};
void stage_result_done(struct stage_result *s);
/* Takes over the buffers of `output`. Appends a message to stderr if a product is missing. */
void stage_result_take(struct stage_result *ret, enum stage stage, const struct language *l,
                       struct jar_run *r, struct buf output[RUN_STREAMS]);
/* Whether the run ends with this stage, as compile_error. */
bool stage_result_is_failure(const struct stage_result *s);
/* The evidence of a run that ends with this stage, with the exit code of its verdict. */
struct evidence stage_result_evidence(const struct stage_result *s);
/* The field `compile` of a result. key: the key in the cache, or NULL. */
json_t *stage_result_json(const struct stage_result *s, bool cached, const char *key);

/* A product may exceed the limits of the program, which shows when the warden fills the jar. The
 * program then reached a limit; it is no failure of ours, because the files of the caller were
 * measured before. In this case the function rewrites the end of r, puts a message for stderr into
 * ret_message and returns true. */
bool stage_product_did_not_fit(struct jar_run *r, char *ret_message, size_t size);
