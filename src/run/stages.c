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

/* Of what a compiler printed, results show this much of each stream. */
enum { SHOWN_MAX = 64 << 10 };
enum {
    PRODUCT_MODE = 0755
}; /* bundles of outputs have no modes, and some of it is to be executed */

struct stages stages_of(const struct language *l, const struct run_options *w)
{
    struct stages s = { 0 };
    if (l->check && w && w->check_types)
        s.at[s.n++] = STAGE_CHECK;
    if (l->compile)
        s.at[s.n++] = STAGE_COMPILE;
    s.at[s.n++] = STAGE_RUN;
    return s;
}

static struct jar_request run_stage(const struct jar_request *whole)
{
    struct jar_request q = *whole;
    q.sampled = q.options && q.options->profile;
    if (q.sampled && q.language->profile)
        q.command = q.language->profile;
    if (q.sampled)
        q.kind =
            0; /* another command than embryos are made for, and what it took to start belongs to it */
    return q;
}

struct jar_request stage_request(enum stage_kind kind, const struct jar_request *whole)
{
    static const char *const nothing[] = { NULL };
    const struct language *l = whole->language;
    const struct run_options *w = whole->options;
    if (kind == STAGE_RUN)
        return run_stage(whole);
    struct jar_request q = { .id = whole->id,
                             .language = l,
                             .command = kind == STAGE_CHECK ? l->check : l->compile,
                             .language_env = l->compile_env ? l->compile_env : nothing,
                             .sources = whole->sources,
                             .main_name = whole->main_name,
                             .args = w ? w->compiler_args : NULL,
                             .limits = compile_limits_default(),
                             .options = w,
                             .bundle_fd = whole->bundle_fd };
    if (w && w->compile_limits.v[LIMIT_WALL_MS] > 0)
        q.limits = w->compile_limits;
    if (kind == STAGE_COMPILE)
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

/* "./" keeps a name that starts with a dash from being taken for an option, and one with an @ for a file of them. */
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

/* What was made, in the order of names. */
static int list_made(const struct buf *made, struct buf *list, struct err *e)
{
    struct bundle_entry f;
    bool more = true;
    for (size_t pos = 0;;) {
        if (bundle_next(made, &pos, &f, &more, e))
            return -1;
        if (!more)
            break;
        if (f.head.mode_or_status == OUTPUT_OK && buf_add(list, &f, sizeof f, e))
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
    head.mode_or_status = mode;
    return buf_add(b, &head, sizeof head, e) || buf_add(b, f->name, head.name_len, e) ||
                   buf_add(b, f->bytes, head.size, e)
               ? -1
               : 0;
}

int stage_merge(const struct buf *files, const struct buf *made, struct buf *ret, struct err *e)
{
    scoped(buf) merged = { 0 }, list = { 0 };
    struct bundle_entry f;
    bool more = true;
    if (buf_reserve(&merged, files->len + made->len, e) || list_made(made, &list, e))
        return -1;
    for (size_t pos = 0; more;) {
        if (bundle_next(files, &pos, &f, &more, e) ||
            (more && !has(&list, &f) && add_entry(&merged, &f, f.head.mode_or_status, e)))
            return -1;
    }
    for (size_t at = 0; at < list.len; at += sizeof f) {
        memcpy(&f, list.data + at, sizeof f);
        if (add_entry(&merged, &f, PRODUCT_MODE, e))
            return -1;
    }
    if (merged.len > BUNDLE_STREAM_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the files and what was made of them are more than %llu bytes",
                       BUNDLE_MAX_BYTES);
    *ret = merged;
    merged = (struct buf){ 0 };
    return 0;
}

/* ---- the end of one ---- */

void preparation_done(struct preparation *p)
{
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&p->said[i]);
    *p = (struct preparation){ 0 };
}

/* A compiler that ended well may yet have made nothing, or more than is taken. */
static void check_products(struct preparation *p, const struct buf *made)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(made, &pos, &f, &more, &e) == 0 && more;) {
        enum output_status status = (enum output_status)f.head.mode_or_status;
        char name[96], quoted[96];
        if (status == OUTPUT_OK)
            continue;
        p->verdict = VERDICT_COMPILE_ERROR;
        p->evidence.exit_code = 1;
        (void)snprintf(name, sizeof name, "%.*s", (int)f.head.name_len, f.name);
        (void)!buf_addf(&p->said[RUN_STDERR], &e,
                        "belljar: what the compiler was to make, '%s': %s\n",
                        text_quote(name, quoted, sizeof quoted), output_status_why(status));
    }
}

void preparation_end(struct preparation *ret, enum stage_kind kind, const struct language *l,
                     struct jar_run *r, struct buf said[RUN_STREAMS])
{
    struct preparation p = { .kind = kind, .verdict = jar_run_verdict(r), .usage = r->end.usage };
    p.evidence = r->end.evidence;
    for (int i = 0; i < RUN_STREAMS; i++) {
        p.said[i] = said[i];
        said[i] = (struct buf){ 0 };
        p.truncated[i] = r->streams[i].truncated;
    }
    if (r->asked ==
        END_CANCEL) { /* also if it was done just then: what comes next does not start */
        r->end.evidence.reason = p.evidence.reason = END_CANCEL;
        p.verdict = VERDICT_CANCELLED;
    }
    if (p.verdict == VERDICT_RUNTIME_ERROR)
        p.verdict = VERDICT_COMPILE_ERROR;
    if (p.verdict == VERDICT_OK && kind == STAGE_COMPILE && l->products)
        check_products(&p, &r->outputs);
    *ret = p;
}

bool preparation_failed(const struct preparation *p)
{
    return p->verdict != VERDICT_OK && p->verdict != VERDICT_CANCELLED &&
           p->verdict != VERDICT_INTERNAL_ERROR;
}

/* Killed for a limit, it has the status that the limit has; its signal was ours. */
struct evidence preparation_evidence(const struct preparation *p)
{
    struct evidence ev = p->evidence;
    if (ev.reason != END_EXIT)
        ev = (struct evidence){ .exit_code = verdict_exit_code(p->verdict, &p->evidence),
                                .hits = p->evidence.hits };
    return ev;
}

static void put_said(json_t *o, const char *key, const struct buf *said, bool truncated)
{
    char cut_key[32];
    struct buf shown = { .data = said->data,
                         .len = said->len < SHOWN_MAX ? said->len : (size_t)SHOWN_MAX };
    scoped(buf) copy = { 0 };
    struct err e;
    (void)snprintf(cut_key, sizeof cut_key, "%s_cut", key);
    if (shown.len < said->len) /* not in the middle of a character */
        while (shown.len > 0 && ((unsigned char)said->data[shown.len] & 0xC0) == 0x80)
            shown.len--;
    if (buf_add(&copy, shown.data, shown.len, &e) == 0)
        result_add_stream(o, key, &copy);
    json_put(o, cut_key, json_boolean(truncated || shown.len < said->len));
}

bool preparation_did_not_fit(struct jar_run *r, char *ret_said, size_t size)
{
    if (r->end.evidence.reason != END_FAILURE || r->end.err.code != ERR_BAD_REQUEST)
        return false;
    (void)snprintf(ret_said, size, "belljar: %s\n", r->end.err.text);
    r->end.evidence = (struct evidence){ .reason = END_EXIT,
                                         .exit_code = 1,
                                         .hits = LIMIT_BIT(LIMIT_DISK) };
    r->end.err = (struct err){ 0 };
    return true;
}

json_t *preparation_json(const struct preparation *p, bool cached, const char *key)
{
    json_t *o = json_object();
    if (!o)
        return NULL;
    struct evidence ev = preparation_evidence(p);
    json_put(o, "verdict", json_string(verdict_word(p->verdict)));
    json_put(o, "exit_code", json_integer(verdict_exit_code(p->verdict, &ev)));
    put_said(o, "stdout", &p->said[RUN_STDOUT], p->truncated[RUN_STDOUT]);
    put_said(o, "stderr", &p->said[RUN_STDERR], p->truncated[RUN_STDERR]);
    json_put(o, "usage", result_usage(&p->usage));
    json_put(o, "limits_hit", result_limit_set(p->evidence.hits));
    json_put(o, "cached", json_boolean(cached));
    json_put(o, "key", json_text_or_null(key));
    return o;
}
