#include "run/stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "spec/bundle.h"

/* A result shows this much of each stream of a compiler. */
enum { SHOWN_MAX = 64 << 10 };
/* A bundle of outputs has no modes, and some products are executable. */
enum { PRODUCT_MODE = 0755 };

struct stages stages_of(const struct language *l, const struct run_options *options)
{
    struct stages s = { 0 };
    if (l->check && options && options->check_types)
        s.at[s.n++] = STAGE_CHECK;
    if (l->compile)
        s.at[s.n++] = STAGE_COMPILE;
    s.at[s.n++] = STAGE_RUN;
    return s;
}

static bool may_be_debugged(const struct language *l, const struct run_options *o)
{
    return o && o->values == VALUES_ALL && l->values_command && !o->profile && !o->display;
}

bool stage_is_debugged(const struct language *l, const struct run_options *o)
{
    return may_be_debugged(l, o) && !l->values;
}

/* An embryo of a language with values needs no debugger. */
static bool tells_all(const struct jar_request *q)
{
    return may_be_debugged(q->language, q->options) && !q->no_values &&
           (!q->language->values || q->kind == 0);
}

static struct jar_request run_stage(const struct jar_request *whole)
{
    struct jar_request q = *whole;
    q.sampled = q.options && q.options->profile;
    if (q.options && q.options->display && q.language->display)
        q.command = q.language->display;
    if (tells_all(&q)) {
        q.command = q.language->values_command;
        q.kind = 0;
    }
    if (q.sampled && q.language->profile)
        q.command = q.language->profile;
    /* Embryos are made for another command, and the start belongs to the profile. */
    if (q.sampled)
        q.kind = 0;
    return q;
}

struct jar_request stage_request(enum stage stage, const struct jar_request *whole)
{
    static const char *const no_env[] = { NULL };
    const struct language *l = whole->language;
    const struct run_options *options = whole->options;
    if (stage == STAGE_RUN)
        return run_stage(whole);
    struct jar_request q = { .id = whole->id,
                             .language = l,
                             .command = stage == STAGE_CHECK ? l->check : l->compile,
                             .language_env = l->compile_env ? l->compile_env : no_env,
                             .sources = whole->sources,
                             .main_name = whole->main_name,
                             .args = options ? options->compiler_args : NULL,
                             .limits = compile_limits_default(),
                             .options = options,
                             .compiles = true,
                             .bundle_fd = whole->bundle_fd };
    if (options && options->compile_limits.v[LIMIT_WALL_MS] > 0)
        q.limits = options->compile_limits;
    if (stage == STAGE_COMPILE)
        q.outputs = (char *const *)l->products;
    return q;
}

int stage_installed(const struct language *l, struct err *e)
{
    struct stat st;
    if (stat(l->version[0], &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111))
        return err_set(e, ERR_NOT_FOUND, ENOENT, "start %s", l->version[0]);
    return 0;
}

/* ---- files ---- */

/* "./" keeps the compiler from reading a name with a leading dash as an option, and a name with a
 * leading @ as a file of options. */
static int add_source(struct buf *names, const char *name, size_t len, struct err *e)
{
    if ((name[0] == '-' || name[0] == '@') && buf_add(names, "./", 2, e))
        return -1;
    return buf_add(names, name, len, e) || buf_add(names, "", 1, e) ? -1 : 0;
}

int stage_sources(const struct language *l, const char *main_name, const struct buf *bundle,
                  char ***ret, struct err *e)
{
    scoped(buf) names = { 0 };
    struct bundle_entry f;
    bool more = true;
    size_t n = 1;
    if (add_source(&names, main_name, strlen(main_name), e))
        return -1;
    for (size_t pos = 0;;) {
        if (bundle_next(bundle, &pos, &f, &more, e))
            return -1;
        if (!more)
            break;
        if (!language_has(l, f.name, f.head.name_len) || bundle_is_named(&f, main_name))
            continue;
        if (add_source(&names, f.name, f.head.name_len, e))
            return -1;
        n++;
    }
    char **list = malloc((n + 1) * sizeof *list + names.len);
    if (!list)
        return err_no_memory(e, "the names of files");
    char *at = memcpy(list + n + 1, names.data, names.len);
    for (size_t i = 0; i < n; i++) {
        list[i] = at;
        at += strlen(at) + 1;
    }
    list[n] = NULL;
    *ret = list;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct bundle_entry *x = a, *y = b;
    uint32_t n = x->head.name_len < y->head.name_len ? x->head.name_len : y->head.name_len;
    int order = memcmp(x->name, y->name, n);
    return order ? order : (int)x->head.name_len - (int)y->head.name_len;
}

/* The products, sorted by name. */
static int list_products(const struct buf *products, struct buf *list, struct err *e)
{
    struct bundle_entry f;
    bool more = true;
    for (size_t pos = 0;;) {
        if (bundle_next(products, &pos, &f, &more, e))
            return -1;
        if (!more)
            break;
        if (f.head.status == OUTPUT_OK && buf_add(list, &f, sizeof f, e))
            return -1;
    }
    if (list->len > 0)
        qsort(list->data, list->len / sizeof f, sizeof f, by_name);
    return 0;
}

static bool has(const struct buf *list, const struct bundle_entry *wanted)
{
    return list->len > 0 &&
           bsearch(wanted, list->data, list->len / sizeof *wanted, sizeof *wanted, by_name) != NULL;
}

static int add_entry(struct buf *b, const struct bundle_entry *f, uint32_t mode, struct err *e)
{
    struct bundle_head head = f->head;
    head.mode = (uint16_t)mode;
    return buf_add(b, &head, sizeof head, e) || buf_add(b, f->name, head.name_len, e) ||
                   buf_add(b, f->bytes, head.size, e)
               ? -1
               : 0;
}

int stage_merge(const struct buf *files, const struct buf *products, struct buf *ret, struct err *e)
{
    scoped(buf) merged = { 0 }, list = { 0 };
    struct bundle_entry f;
    bool more = true;
    if (buf_reserve(&merged, files->len + products->len, e) || list_products(products, &list, e))
        return -1;
    for (size_t pos = 0; more;) {
        if (bundle_next(files, &pos, &f, &more, e) ||
            (more && !has(&list, &f) && add_entry(&merged, &f, f.head.mode, e)))
            return -1;
    }
    for (size_t at = 0; at < list.len; at += sizeof f) {
        memcpy(&f, list.data + at, sizeof f);
        if (add_entry(&merged, &f, PRODUCT_MODE, e))
            return -1;
    }
    if (merged.len > BUNDLE_STREAM_MAX)
        return err_set(
            e, ERR_TOO_LARGE, 0,
            "the files and the compiled products are together larger than %llu bytes: send less",
            BUNDLE_MAX_BYTES);
    *ret = merged;
    merged = (struct buf){ 0 };
    return 0;
}

static bool has_run_only(const struct buf *files)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(files, &pos, &f, &more, &e) == 0 && more;)
        if (f.head.mode & BUNDLE_RUN_ONLY)
            return true;
    return false;
}

int stage_split(const struct buf *files, bool *ret_has, struct buf *ret_compiled,
                struct buf *ret_run_only, struct err *e)
{
    scoped(buf) compiled = { 0 }, run_only = { 0 };
    struct bundle_entry f;
    bool more = has_run_only(files);
    *ret_has = more;
    for (size_t pos = 0; more;) {
        if (bundle_next(files, &pos, &f, &more, e))
            return -1;
        struct buf *to = f.head.mode & BUNDLE_RUN_ONLY ? &run_only : &compiled;
        if (more && add_entry(to, &f, f.head.mode, e))
            return -1;
    }
    *ret_compiled = compiled;
    *ret_run_only = run_only;
    compiled = run_only = (struct buf){ 0 };
    return 0;
}

int stage_join(const struct buf *program, const struct buf *run_only, struct buf *ret,
               struct err *e)
{
    scoped(buf) joined = { 0 }, list = { 0 };
    struct bundle_entry f;
    bool more = true;
    if (list_products(program, &list, e) || buf_add(&joined, program->data, program->len, e))
        return -1;
    for (size_t pos = 0; more;) {
        if (bundle_next(run_only, &pos, &f, &more, e) ||
            (more && !has(&list, &f) && add_entry(&joined, &f, f.head.mode, e)))
            return -1;
    }
    *ret = joined;
    joined = (struct buf){ 0 };
    return 0;
}

/* ---- the result of a stage ---- */

void stage_result_done(struct stage_result *s)
{
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&s->output[i]);
    *s = (struct stage_result){ 0 };
}

/* A compiler that ended well may have left a product out, or made one that is too large. */
static void check_products(struct stage_result *s, const struct buf *products)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(products, &pos, &f, &more, &e) == 0 && more;) {
        enum output_status status = (enum output_status)f.head.status;
        char name[96];
        if (status == OUTPUT_OK)
            continue;
        s->verdict = VERDICT_COMPILE_ERROR;
        s->evidence.exit_code = 1;
        (void)snprintf(name, sizeof name, "%.*s", (int)f.head.name_len, f.name);
        (void)!buf_addf(&s->output[RUN_STDERR], &e,
                        "belljar: the compiler's product '%s' cannot be used: %s\n", QUOTED(name),
                        output_status_why(status));
    }
}

void stage_result_take(struct stage_result *ret, enum stage stage, const struct language *l,
                       struct jar_run *r, struct buf output[RUN_STREAMS])
{
    struct stage_result s = { .stage = stage,
                              .verdict = jar_run_verdict(r),
                              .usage = r->end.usage };
    s.evidence = r->end.evidence;
    for (int i = 0; i < RUN_STREAMS; i++) {
        s.output[i] = output[i];
        output[i] = (struct buf){ 0 };
        s.truncated[i] = r->streams[i].truncated;
    }
    /* Also if the stage ended well at that moment: the next stage must not start. */
    if (r->cancelled) {
        r->end.evidence.reason = s.evidence.reason = END_CANCEL;
        s.verdict = VERDICT_CANCELLED;
    }
    if (s.verdict == VERDICT_RUNTIME_ERROR)
        s.verdict = VERDICT_COMPILE_ERROR;
    if (s.verdict == VERDICT_OK && stage == STAGE_COMPILE && l->products)
        check_products(&s, &r->outputs);
    *ret = s;
}

bool stage_result_is_failure(const struct stage_result *s)
{
    return s->verdict != VERDICT_OK && s->verdict != VERDICT_CANCELLED &&
           s->verdict != VERDICT_INTERNAL_ERROR;
}

/* A compiler that we killed for a limit gets the exit code of that limit. The signal was ours. */
struct evidence stage_result_evidence(const struct stage_result *s)
{
    if (s->evidence.reason == END_EXIT)
        return s->evidence;
    return (struct evidence){ .exit_code = verdict_exit_code(s->verdict, &s->evidence),
                              .hits = s->evidence.hits };
}

bool stage_product_did_not_fit(struct jar_run *r, char *ret_message, size_t size)
{
    if (r->end.evidence.reason != END_FAILURE || r->end.err.code != ERR_BAD_REQUEST)
        return false;
    (void)snprintf(ret_message, size, "belljar: %s\n", r->end.err.text);
    r->end.evidence = (struct evidence){ .reason = END_EXIT,
                                         .exit_code = 1,
                                         .hits = LIMIT_BIT(LIMIT_DISK) };
    r->end.err = (struct err){ 0 };
    return true;
}

static void put_output(json_t *o, const char *key, const struct buf *output, bool truncated)
{
    char cut_key[32];
    struct buf shown = { .data = output->data,
                         .len = output->len < SHOWN_MAX ? output->len : (size_t)SHOWN_MAX };
    scoped(buf) copy = { 0 };
    struct err e;
    (void)snprintf(cut_key, sizeof cut_key, "%s_cut", key);
    if (shown.len < output->len) /* not in the middle of a character */
        while (shown.len > 0 && ((unsigned char)output->data[shown.len] & 0xC0) == 0x80)
            shown.len--;
    if (buf_add(&copy, shown.data, shown.len, &e) == 0)
        result_add_stream(o, key, &copy);
    json_put(o, cut_key, json_boolean(truncated || shown.len < output->len));
}

json_t *stage_result_json(const struct stage_result *s, bool cached, const char *key)
{
    json_t *o = json_object();
    if (!o)
        return NULL;
    struct evidence ev = stage_result_evidence(s);
    json_put(o, "verdict", json_string(verdict_word(s->verdict)));
    json_put(o, "exit_code", json_integer(verdict_exit_code(s->verdict, &ev)));
    put_output(o, "stdout", &s->output[RUN_STDOUT], s->truncated[RUN_STDOUT]);
    put_output(o, "stderr", &s->output[RUN_STDERR], s->truncated[RUN_STDERR]);
    json_put(o, "usage", result_usage(&s->usage));
    json_put(o, "limits_hit", result_limit_set(s->evidence.hits));
    json_put(o, "cached", json_boolean(cached));
    json_put(o, "key", json_text_or_null(key));
    return o;
}
