#include "store/run_rows.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "store/run_columns.h"

/* The bytes of the rows and index entries of a run beside its texts: a history of tiny runs takes
 * space too. */
enum { ROW_BYTES = 512 };

static const char *const state_words[] = {
#define X(id, word) [id] = word,
    RUN_STATE_TABLE(X)
#undef X
};

static const char state_list[] =
#define X(id, word) " " word
    RUN_STATE_TABLE(X)
#undef X
    ;

const char *run_state_word(enum run_state s)
{
    return state_words[s];
}

int run_state_parse(const char *word, enum run_state *ret, struct err *e)
{
    for (int i = 0; i < RUN_STATE_COUNT_; i++) {
        if (strcmp(word, state_words[i]) == 0) {
            *ret = (enum run_state)i;
            return 0;
        }
    }
    return err_set(e, ERR_BAD_REQUEST, 0, "state '%s' is not known: use one of%s", QUOTED(word),
                   state_list);
}

void run_record_done(struct run_record *r)
{
    char *texts[] = { r->id,    r->language, r->verdict, r->key,    r->thread, r->artifact,
                      r->batch, r->surface,  r->request, r->result, r->code };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    buf_done(&r->journal);
    buf_done(&r->files);
    *r = (struct run_record){ 0 };
}

/* An unknown word means that another program wrote the row. The run is shown as interrupted. */
static enum run_state state_of(const char *word)
{
    struct err ignored = { 0 };
    enum run_state s = RUN_INTERRUPTED;
    (void)run_state_parse(word, &s, &ignored);
    return s;
}

void run_record_take(struct query *q, struct run_record *r)
{
    r->seq = take_int(q);
    r->state = state_of(peek_text(q, NULL));
    r->id = take_text(q);
    r->language = take_text(q);
    r->verdict = take_text(q);
    r->key = take_text(q);
    r->thread = take_text(q);
    r->artifact = take_text(q);
    r->batch = take_text(q);
    r->surface = take_text(q);
    r->created_ms = take_int(q);
    r->started_ms = take_int(q);
    r->finished_ms = take_int(q);
    r->wall_us = take_int(q);
    r->cpu_us = take_int(q);
    r->memory_peak = take_int(q);
    r->journal_in_file = take_int(q) != 0;
}

static int64_t text_size(const char *text)
{
    return text ? (int64_t)strlen(text) : 0;
}

int run_bytes_add(struct db *db, const char *key, int64_t bytes, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_BYTES_ADD, e))
        return -1;
    bind_text(&q, key);
    bind_int(&q, bytes);
    return query_run(&q, e);
}

int run_charge(struct db *db, const char *run_id, int64_t bytes, struct err *e)
{
    autofree char *key = NULL;
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_CHARGE, e))
        return -1;
    bind_int(&q, bytes);
    bind_text(&q, run_id);
    int found = query_step(&q, e);
    if (found <= 0)
        return found;
    key = take_text(&q);
    return query_taken(&q, e) || query_run(&q, e) || run_bytes_add(db, key, bytes, e) ? -1 : 0;
}

static int insert_input(struct db *db, int64_t seq, const struct run_record *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_INPUT_INSERT, e))
        return -1;
    bind_int(&q, seq);
    bind_text(&q, r->code);
    bind_text(&q, r->request);
    return query_run(&q, e);
}

int runs_insert(struct db *db, const struct run_record *r, struct err *e)
{
    int64_t bytes = ROW_BYTES + text_size(r->request) + text_size(r->code);
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, run_state_word(r->state), r->language, r->key, r->thread, r->artifact,
               r->batch, r->surface);
    bind_int(&q, r->created_ms);
    bind_int(&q, bytes);
    if (query_step(&q, e) < 0)
        return -1;
    int64_t seq = take_int(&q);
    if (query_run(&q, e) || insert_input(db, seq, r, e))
        return -1;
    return run_bytes_add(db, r->key, bytes, e);
}

static int no_run(const char *id, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, 0, "there is no run '%s'", QUOTED(id));
}

/* Found: 0. */
static int must_exist(struct db *db, const char *id, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_STATE, e))
        return -1;
    bind_text(&q, id);
    int row = query_step(&q, e);
    return row == 0 ? no_run(id, e) : row < 0 ? -1 : 0;
}

static int input_size(struct db *db, int64_t seq, int64_t *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_INPUT_SIZE, e))
        return -1;
    bind_int(&q, seq);
    if (query_step(&q, e) < 0)
        return -1;
    *ret = take_int(&q);
    return 0;
}

/* Stores the input that an approver edited. *ret_more: the additional bytes. */
static int replace_input(struct db *db, int64_t seq, const struct run_record *r, int64_t *ret_more,
                         struct err *e)
{
    int64_t before, after;
    scoped(query) put = { 0 };
    scoped(query) grow = { 0 };
    if (input_size(db, seq, &before, e) || query_get(&put, db, SQL_RUN_INPUT_REPLACE, e))
        return -1;
    bind_text(&put, r->code);
    bind_text(&put, r->request);
    bind_int(&put, seq);
    if (query_run(&put, e) || input_size(db, seq, &after, e) ||
        query_get(&grow, db, SQL_RUN_ROW_BYTES_ADD, e))
        return -1;
    bind_int(&grow, after - before);
    bind_int(&grow, seq);
    *ret_more = after - before;
    return query_run(&grow, e);
}

static int insert_output(struct db *db, int64_t seq, const struct run_record *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_OUTPUT_INSERT, e))
        return -1;
    bind_int(&q, seq);
    bind_text(&q, r->result);
    bind_buf(&q, &r->journal);
    bind_buf(&q, &r->files);
    return query_run(&q, e);
}

static int add_total(struct db *db, const char *language, const struct run_record *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_TOTAL_ADD, e))
        return -1;
    bind_text(&q, language);
    bind_text(&q, r->verdict);
    BIND_INTS(&q, r->wall_us, r->cpu_us, r->memory_peak);
    return query_run(&q, e);
}

static int64_t journal_file_bytes(const struct db *db, const char *id)
{
    struct stat st;
    char path[320];
    int n = snprintf(path, sizeof path, "output/%s", id);
    if (n < 0 || (size_t)n >= sizeof path ||
        fstatat(db->dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return st.st_size;
}

/* Updates the row itself. *ret_language and *ret_key are copies. -1 if the run does not exist or is over. */
static int finish_row(struct db *db, const struct run_record *r, int64_t bytes, int64_t *ret_seq,
                      char **ret_language, char **ret_key, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_FINISH, e))
        return -1;
    bind_text(&q, r->verdict);
    BIND_INTS(&q, r->started_ms, r->finished_ms, r->wall_us, r->cpu_us, r->memory_peak,
              r->journal_in_file, bytes);
    bind_text(&q, r->id);
    int row = query_step(&q, e);
    if (row < 0)
        return -1;
    if (row == 0)
        return must_exist(db, r->id, e)
                   ? -1
                   : err_set(e, ERR_CONFLICT, 0, "run '%s' is already finished", r->id);
    *ret_seq = take_int(&q);
    *ret_language = take_text(&q);
    *ret_key = take_text(&q);
    return query_taken(&q, e) ? -1 : query_run(&q, e);
}

int runs_finish(struct db *db, const struct run_record *r, struct err *e)
{
    autofree char *language = NULL, *key = NULL;
    int64_t seq = 0, more = 0;
    int64_t bytes = text_size(r->result) + (int64_t)r->journal.len + (int64_t)r->files.len +
                    (r->journal_in_file ? journal_file_bytes(db, r->id) : 0);
    if (finish_row(db, r, bytes, &seq, &language, &key, e) || insert_output(db, seq, r, e) ||
        add_total(db, language, r, e))
        return -1;
    if ((r->request || r->code) && replace_input(db, seq, r, &more, e))
        return -1;
    return run_bytes_add(db, key, bytes + more, e);
}

static int get_blobs(struct db *db, unsigned with, struct run_record *row, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_BLOBS, e))
        return -1;
    BIND_INTS(&q, (with & RUN_WITH_JOURNAL) != 0, (with & RUN_WITH_FILES) != 0, row->seq);
    int found = query_step(&q, e);
    if (found <= 0)
        return found;
    take_buf(&q, &row->journal);
    take_buf(&q, &row->files);
    return query_taken(&q, e);
}

int runs_get(struct db *db, const char *id, unsigned with, struct run_record *ret, struct err *e)
{
    scoped(run_record) row = { 0 };
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_GET, e))
        return -1;
    bind_text(&q, id);
    int found = query_step(&q, e);
    if (found <= 0)
        return found < 0 ? -1 : no_run(id, e);
    run_record_take(&q, &row);
    row.code = take_text(&q);
    row.request = take_text(&q);
    row.result = take_text(&q);
    if (query_taken(&q, e) || (with && get_blobs(db, with, &row, e)))
        return -1;
    sql_move(ret, &row, sizeof row);
    return 0;
}

int runs_interrupt_unfinished(struct db *db, int64_t now_ms, const char *except, int64_t *ret_n,
                              struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_INTERRUPT, e))
        return -1;
    bind_int(&q, now_ms);
    bind_text(&q, except);
    if (query_run(&q, e))
        return -1;
    *ret_n = query_changes(&q);
    return 0;
}
