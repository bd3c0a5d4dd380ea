#include "guests/sql/sql_session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "guests/session/channel.h"
#include "guests/sql/render.h"

enum { FORM_MAX_BYTES = 400 << 10, WORDS_MAX = 1 << 16 };

static const struct {
    enum table_format format;
    const char *mime;
} forms[] = {
    { TABLE_ALIGNED, "text/plain" },
    { TABLE_HTML, "text/html" },
    { TABLE_CSV, "text/csv" },
};

struct sql_tables {
    struct channel channel;
    uint32_t request;
    FILE *real_stderr, *errors;
    char *error_text;
    size_t error_n;
    char name[64];
    struct buf message;
    /* the table that is being made */
    struct {
        char *text;
        size_t n;
        FILE *out;
        struct render *render;
    } form[ARRAY_LEN(forms)];
    struct buf rows; /* JSON */
    uint64_t seen, kept;
    /* the last one that was made, as fields; empty: none */
    struct buf ready;
};

/* ---- tables ---- */

static void forget_table(struct sql_tables *t)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        render_free(t->form[i].render);
        if (t->form[i].out)
            (void)fclose(t->form[i].out);
        free(t->form[i].text);
    }
    memset(t->form, 0, sizeof t->form);
    buf_done(&t->rows);
    t->seen = t->kept = 0;
}

static void send_ready(struct sql_tables *t, bool is_result)
{
    scoped(buf) b = { 0 };
    struct err e;
    char count[16];
    if (t->ready.len == 0)
        return;
    (void)snprintf(count, sizeof count, "%u", t->channel.count);
    if (is_result)
        field_add_text(&b, TAG_COUNT, count);
    if (buf_add(&b, t->ready.data, t->ready.len, &e) == 0)
        channel_send(&t->channel, t->request, is_result ? FRAME_RESULT : FRAME_DISPLAY, &b);
    buf_done(&t->ready);
}

int sql_table_begin(struct sql_tables *t, const struct column *columns, size_t n, struct err *e)
{
    send_ready(t, false);
    forget_table(t);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        t->form[i].out = open_memstream(&t->form[i].text, &t->form[i].n);
        t->form[i].render = t->form[i].out ? render_new(forms[i].format, t->form[i].out) : NULL;
        if (!t->form[i].render)
            return err_no_memory(e, "a result");
        if (render_begin(t->form[i].render, columns, n, e))
            return -1;
    }
    return 0;
}

static bool is_full(struct sql_tables *t)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        (void)fflush(t->form[i].out);
        if (t->form[i].n > FORM_MAX_BYTES)
            return true;
    }
    return t->rows.len > FORM_MAX_BYTES || t->kept >= RENDER_WAITING_ROWS;
}

static bool is_huge(const struct cell *cells, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += cells[i].n;
    return bytes > FORM_MAX_BYTES / 4;
}

int sql_table_row(struct sql_tables *t, const struct cell *cells, size_t n, struct err *e)
{
    if (t->seen++ > t->kept || is_full(t) || is_huge(cells, n))
        return 0;
    t->kept++;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (render_row(t->form[i].render, cells, e))
            return -1;
    int failed = buf_addf(&t->rows, e, "%s[", t->kept > 1 ? "," : "");
    for (size_t i = 0; i < n && !failed; i++)
        failed = (i > 0 && buf_addf(&t->rows, e, ",")) || cell_add_json(&t->rows, &cells[i], e);
    return failed || buf_addf(&t->rows, e, "]") ? -1 : 0;
}

static int add_json(struct sql_tables *t, const struct column *columns, size_t n, struct buf *b,
                    struct err *e)
{
    int failed = buf_addf(b, e, "{\"columns\":[");
    for (size_t i = 0; i < n && !failed; i++)
        failed = buf_addf(b, e, "%s{\"name\":", i > 0 ? "," : "") ||
                 cell_add_json_text(b, columns[i].name, strlen(columns[i].name), e) ||
                 buf_addf(b, e, ",\"type\":") ||
                 cell_add_json_text(b, columns[i].type, strlen(columns[i].type), e) ||
                 buf_addf(b, e, "}");
    return failed || buf_addf(b, e, "],\"rows\":[") ||
                   buf_add(b, buf_str(&t->rows), t->rows.len, e) ||
                   buf_addf(b, e, "],\"row_count\":%" PRIu64 ",\"truncated\":%s}", t->seen,
                            t->kept < t->seen ? "true" : "false")
               ? -1
               : 0;
}

int sql_table_end(struct sql_tables *t, const struct column *columns, size_t n, struct err *e)
{
    scoped(buf) json = { 0 };
    bool cut = t->kept < t->seen;
    if (add_json(t, columns, n, &json, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (render_end(t->form[i].render, e))
            return -1;
        if (cut && i == 0)
            (void)fprintf(t->form[i].out, "(only the first %" PRIu64 " of %" PRIu64 " rows)\n",
                          t->kept, t->seen);
        if (fflush(t->form[i].out) == EOF)
            return err_no_memory(e, "a result");
        field_add_text(&t->ready, TAG_MIME, forms[i].mime);
        field_add(&t->ready, TAG_DATA, t->form[i].text, t->form[i].n);
    }
    field_add_text(&t->ready, TAG_MIME, "application/json");
    field_add(&t->ready, TAG_DATA, json.data, json.len);
    if (cut)
        field_add_text(&t->ready, TAG_CUT, "");
    forget_table(t);
    return 0;
}

/* ---- errors ---- */

void sql_session_error(struct sql_tables *t, const char *name, const char *message)
{
    struct err e;
    if (!t)
        return;
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    buf_done(&t->message);
    (void)!buf_addf(&t->message, &e, "%.*s", (int)strnlen(message, WORDS_MAX), message);
}

void sql_session_notice_begin(struct sql_tables *t)
{
    if (t)
        stderr = t->real_stderr;
}

void sql_session_notice_end(struct sql_tables *t)
{
    if (!t)
        return;
    (void)fflush(stderr);
    stderr = t->errors;
}

static void collect_errors(struct sql_tables *t)
{
    t->name[0] = '\0';
    buf_done(&t->message);
    t->errors = open_memstream(&t->error_text, &t->error_n);
    if (t->errors)
        stderr = t->errors;
}

/* Returns the words that were printed; the caller frees them. */
static char *collected_errors(struct sql_tables *t)
{
    stderr = t->real_stderr;
    if (!t->errors || fclose(t->errors) == EOF)
        return NULL;
    t->errors = NULL;
    if (t->error_n > WORDS_MAX)
        t->error_text[WORDS_MAX] = '\0';
    return t->error_text;
}

/* ---- requests ---- */

/* For the signal handler. */
static const struct sql_session_ops *the_ops;
static void *the_context;
static atomic_bool is_open, was_interrupted;

/* A call of interrupt() between two statements has no effect on the next one, so it is repeated
 * until the cell is closed. */
static void repeat_every(suseconds_t us)
{
    struct itimerval t = { .it_interval.tv_usec = us, .it_value.tv_usec = us };
    (void)setitimer(ITIMER_REAL, &t, NULL);
}

/* SIGINT, SIGURG (the cell is still to be interrupted; see jar/cell.c) and our own SIGALRM. One that
 * came before the cell was open does nothing: the warden repeats SIGURG. */
static void on_signal(int sig)
{
    enum { AGAIN_US = 50000 };
    int saved = errno;
    if (atomic_load(&is_open) && (sig != SIGALRM || atomic_load(&was_interrupted))) {
        if (!atomic_exchange(&was_interrupted, true))
            repeat_every(AGAIN_US);
        the_ops->interrupt(the_context);
    }
    errno = saved;
}

bool sql_session_is_interrupted(void)
{
    return atomic_load(&was_interrupted);
}

static void open_request(void)
{
    atomic_store(&was_interrupted, false);
    atomic_store(&is_open, true);
}

static void close_request(void)
{
    atomic_store(&is_open, false);
    if (atomic_load(&was_interrupted))
        repeat_every(0);
}

static void on_exec(void *context, const struct message *m)
{
    struct sql_tables *t = context;
    char name[32];
    size_t n = 0;
    autofree char *code = message_text(m, TAG_CODE, &n);
    bool silent = message_has_flag(m, "silent");
    t->request = m->request;
    if (!silent)
        t->channel.count++;
    (void)snprintf(name, sizeof name, "cell-%u", t->channel.count);
    struct script cell = { .name = name, .text = code ? code : "", .n = n };
    collect_errors(t);
    open_request();
    int failed = the_ops->run(the_context, &cell);
    close_request();
    autofree char *words = collected_errors(t);
    forget_table(t);
    if (silent)
        buf_done(&t->ready);
    send_ready(t, !failed);
    if (failed && atomic_load(&was_interrupted))
        channel_error(&t->channel, m->request, "KeyboardInterrupt", "the cell was interrupted",
                      words ? words : "");
    else if (failed)
        channel_error(&t->channel, m->request, t->name[0] ? t->name : "error", buf_str(&t->message),
                      words ? words : "");
    channel_done(&t->channel, m->request,
                 !failed                         ? "ok"
                 : atomic_load(&was_interrupted) ? "interrupted"
                                                 : "error");
}

struct name_list {
    struct buf json;
    const char *start; /* names that begin with this; NULL: tables with their types */
    size_t n;
    unsigned count;
};

enum { NAMES_MAX = 500 };

static void offer_name(void *to, const char *name, const char *type)
{
    struct name_list *list = to;
    struct err e;
    bool wanted = list->start ? strncasecmp(name, list->start, list->n) == 0
                              : strcmp(type, "column") != 0;
    if (!wanted || list->count >= NAMES_MAX)
        return;
    size_t before = list->json.len;
    if (buf_addf(&list->json, &e, "%s{\"%s\":", list->count > 0 ? "," : "",
                 list->start ? "text" : "name") ||
        cell_add_json_text(&list->json, name, strlen(name), &e) ||
        buf_addf(&list->json, &e, ",\"type\":") ||
        cell_add_json_text(&list->json, type, strlen(type), &e) ||
        buf_addf(&list->json, &e, "%s}", list->start ? "" : ",\"preview\":\"\""))
        list->json.len = before;
    else
        list->count++;
}

/* An interrupt leaves the rest out. */
static void collect_names(struct name_list *list)
{
    open_request();
    the_ops->names(the_context, offer_name, list);
    close_request();
}

static bool is_word(char c)
{
    return c == '_' || (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
           ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static void on_complete(void *context, const struct message *m)
{
    struct sql_tables *t = context;
    static const char *const keywords[] = {
        "ALTER",   "AND",      "AS",     "BEGIN", "BETWEEN",  "BY",    "CASE",   "COMMIT", "COUNT",
        "CREATE",  "CROSS",    "DELETE", "DESC",  "DISTINCT", "DROP",  "ELSE",   "END",    "EXISTS",
        "FROM",    "GROUP",    "HAVING", "IN",    "INDEX",    "INNER", "INSERT", "INTO",   "JOIN",
        "LEFT",    "LIKE",     "LIMIT",  "NOT",   "NULL",     "ON",    "OR",     "ORDER",  "OVER",
        "PRIMARY", "ROLLBACK", "SELECT", "SET",   "TABLE",    "THEN",  "UNION",  "UPDATE", "VALUES",
        "VIEW",    "WHEN",     "WHERE",  "WITH",
    };
    struct err e;
    size_t n = 0;
    autofree char *code = message_text(m, TAG_CODE, &n);
    const char *text = code ? code : "";
    size_t end = message_cursor(m, text, n), start = end;
    while (start > 0 && is_word(text[start - 1]))
        start--;
    struct name_list list = { .start = text + start, .n = end - start };
    int failed = buf_addf(&list.json, &e, "{\"matches\":[");
    collect_names(&list);
    for (size_t i = 0; i < ARRAY_LEN(keywords) && end > start; i++)
        offer_name(&list, keywords[i], "keyword");
    if (!failed && !buf_addf(&list.json, &e, "],\"from\":%zu,\"to\":%zu}",
                             text_characters(text, start), text_characters(text, end)))
        channel_answer(&t->channel, m->request, &list.json);
    buf_done(&list.json);
}

static void on_variables(void *context, const struct message *m)
{
    struct sql_tables *t = context;
    struct err e;
    struct name_list list = { 0 };
    int failed = buf_addf(&list.json, &e, "{\"variables\":[");
    collect_names(&list);
    if (!failed &&
        !buf_addf(&list.json, &e, "],\"cut\":%s}", list.count == NAMES_MAX ? "true" : "false"))
        channel_answer(&t->channel, m->request, &list.json);
    buf_done(&list.json);
}

enum { DESCRIPTION_MAX = 64 << 10 };

static void add_description(void *to, const char *text)
{
    struct buf *all = to;
    struct err e;
    if (all->len + strlen(text) < DESCRIPTION_MAX)
        (void)!buf_addf(all, &e, "%s%s", all->len > 0 ? "\n" : "", text);
}

/* The word around the cursor; of "main.orders" the part with the cursor. */
static void on_inspect(void *context, const struct message *m)
{
    struct sql_tables *t = context;
    struct err e;
    size_t n = 0;
    autofree char *code = message_text(m, TAG_CODE, &n);
    scoped(buf) text = { 0 }, json = { 0 };
    size_t end = code ? message_cursor(m, code, n) : 0, start = end;
    while (start > 0 && is_word(code[start - 1]))
        start--;
    while (code && end < n && is_word(code[end]))
        end++;
    autofree char *name = code ? strndup(code + start, end - start) : NULL;
    if (name && *name) {
        open_request(); /* the interrupt of an earlier cell would end this question, too */
        the_ops->describe(the_context, name, add_description, &text);
        close_request();
    }
    if (!buf_addf(&json, &e, "{\"found\":%s,\"text\":", text.len > 0 ? "true" : "false") &&
        !cell_add_json_text(&json, buf_str(&text), text.len, &e) && !buf_addf(&json, &e, "}"))
        channel_answer(&t->channel, m->request, &json);
}

struct sql_tables *sql_session_open(void)
{
    struct sql_tables *t = calloc(1, sizeof *t);
    if (t && channel_open(&t->channel) == 0) {
        t->real_stderr = stderr;
        return t;
    }
    (void)fprintf(stderr, "error: descriptor 3 is not the channel of a session\n");
    free(t);
    return NULL;
}

struct channel *sql_session_channel(struct sql_tables *t)
{
    return &t->channel;
}

static void *images_context(struct sql_tables *t)
{
    return the_ops->images_context ? the_ops->images_context : &t->channel;
}

static void on_image(void *context, const struct message *m)
{
    struct sql_tables *t = context;
    images_on_write(&t->channel, m, the_ops->images, images_context(t));
}

static void on_become(void *context, const struct message *m)
{
    struct sql_tables *t = context;
    images_on_become(&t->channel, m, the_ops->images, images_context(t));
}

int sql_session_run(struct sql_tables *t, const struct sql_session_ops *ops, void *context)
{
    static const struct channel_handler handlers[] = {
        { FRAME_EXEC, on_exec },       { FRAME_COMPLETE, on_complete },
        { FRAME_INSPECT, on_inspect }, { FRAME_VARIABLES, on_variables },
        { FRAME_IMAGE, on_image },     { FRAME_BECOME, on_become },
    };
    static const int signals[] = { SIGINT, SIGURG, SIGALRM };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    scoped(buf) ready = { 0 };
    the_ops = ops;
    the_context = context;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (sigaction(signals[i], &action, NULL) < 0)
            return 1;
    field_add_text(&ready, TAG_VERSION, ops->images->version);
    channel_send(&t->channel, 0, FRAME_READY, &ready);
    return channel_serve(&t->channel, handlers, ARRAY_LEN(handlers), t);
}
