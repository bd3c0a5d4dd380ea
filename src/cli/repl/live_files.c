#include "cli/repl/live_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/repl/asking.h"
#include "spec/live_file.h"

enum { ANSWER_MS = 60000, RENEW_MS = 8000, WORDS_MAX = 3 };

/* ---- the words, in main ---- */

void files_request_done(struct files_request *q)
{
    buf_done(&q->bytes);
    free(q->save_as);
}

static struct files_request request_take(struct files_request *q)
{
    struct files_request taken = *q;
    *q = (struct files_request){ 0 };
    return taken;
}

/* Splits the text in place. A word in quotes may have blanks. */
static int split(char *text, char *words[WORDS_MAX + 1], size_t *ret_n, struct err *e)
{
    size_t n = 0;
    for (char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
        char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
        char *end = quote ? strchr(at, quote) : at + strcspn(at, " \t");
        if (n == WORDS_MAX || !end)
            return err_set(e, ERR_USAGE, 0, "%s: ':files %s' is accepted",
                           end ? "these are too many words" : "a quote has no end", FILES_USAGE);
        words[n++] = at;
        at = *end ? end + 1 : end;
        *end = '\0';
    }
    *ret_n = n;
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int add_local(struct buf *b, const char *name, struct err *e)
{
    autoclose int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(name));
    return buf_add(b, "\n", 1, e) || fd_read_to_buf(fd, LIVE_FILE_BYTES_MAX, b, e) ? -1 : 0;
}

int files_request_read(const char *text, struct files_request *ret, struct err *e)
{
    static const struct {
        const char *word;
        size_t min, max;
        enum link_type type;
    } rows[] = { { "get", 2, 3, ASK_FILE_GET },
                 { "put", 2, 3, ASK_FILE_PUT },
                 { "rm", 2, 2, ASK_FILE_REMOVE } };
    autofree char *copy = strdup(text);
    char *words[WORDS_MAX + 1] = { NULL };
    size_t n = 0, row = 0;
    scoped(files_request) q = { .type = ASK_FILES };
    if (!copy)
        return err_no_memory(e, "a command");
    if (split(copy, words, &n, e))
        return -1;
    while (n > 0 && row < ARRAY_LEN(rows) &&
           (strcmp(words[0], rows[row].word) != 0 || n < rows[row].min || n > rows[row].max))
        row++;
    if (row == ARRAY_LEN(rows))
        return err_set(e, ERR_USAGE, 0, "':files %s' is not known: ':files', or ':files %s'",
                       QUOTED(text), FILES_USAGE);
    if (n > 0) {
        const char *last = n > 2 ? words[2] : base_name(words[1]);
        q.type = rows[row].type;
        const char *path = q.type == ASK_FILE_PUT ? last : words[1];
        if (!*words[1] || !*last)
            return err_set(e, ERR_USAGE, 0, "':files %s' names no file: ':files %s' is accepted",
                           QUOTED(text), FILES_USAGE);
        if (buf_add(&q.bytes, path, strlen(path), e) ||
            (q.type == ASK_FILE_PUT && add_local(&q.bytes, words[1], e)))
            return -1;
        q.save_as = q.type == ASK_FILE_GET ? strdup(last) : NULL;
        q.is_new = n == 2;
    }
    *ret = request_take(&q);
    return 0;
}

/* ---- questions, in the talker ---- */

/* A name is a guest's text. */
static void print_name(const char *name)
{
    for (size_t len = strlen(name); len > 0;) {
        size_t n = text_printable(name, len);
        (void)fwrite(n ? name : "?", 1, n ? n : 1, stdout);
        name += n ? n : 1;
        len -= n ? n : 1;
    }
}

static void print_list(const json_t *answer)
{
    const json_t *list = json_object_get(answer, "files"), *row;
    size_t i;
    if (json_array_size(list) == 0)
        (void)printf("There are no files.\n");
    json_array_foreach(list, i, row) {
        const char *path = json_string_value(json_object_get(row, "path"));
        const char *type = json_string_value(json_object_get(row, "type"));
        if (!path || !type)
            continue;
        if (strcmp(type, "file") == 0)
            (void)printf("%12lld  ", (long long)json_integer_value(json_object_get(row, "size")));
        else
            (void)printf("%12s  ", QUOTED(type));
        print_name(path);
        (void)printf("\n");
    }
    if (json_is_true(json_object_get(answer, "cut")))
        (void)printf("There are more files than this list may have.\n");
}

static const struct question {
    const char *method;
    const char *done; /* a sentence about the path; NULL: the answer is shown or saved */
} questions[] = {
    [ASK_FILES] = { "GET", NULL },
    [ASK_FILE_GET] = { "GET", NULL },
    [ASK_FILE_PUT] = { "PUT", "wrote" },
    [ASK_FILE_REMOVE] = { "DELETE", "removed" },
};

/* The answer stays in the client. */
static int ask_service(struct connections *c, const char *id, enum link_type type, const char *path,
                       const char *body, size_t n, struct err *e)
{
    scoped(buf) target = { 0 };
    if (buf_addf(&target, e, "/v1/sessions/%s/files%s", id, *path ? "/" : "") ||
        client_add_escaped(&target, path, e) || connections_renew(c, &c->side, RENEW_MS, e))
        return -1;
    const struct client_request q = { .method = questions[type].method,
                                      .path = buf_str(&target),
                                      .json = type == ASK_FILE_PUT ? body : NULL,
                                      .json_len = n,
                                      .body_max = ANSWER_MAX };
    if (client_ask(c->side, &q, ANSWER_MS, e))
        return -1;
    return client_response(c->side)->status / 100 == 2 ? 0 : client_refusal(c->side, e);
}

static int show_answer(struct connections *c, enum link_type type, const char *path, struct err *e)
{
    size_t len;
    const char *answer = client_body(c->side, &len);
    if (type == ASK_FILE_GET)
        return link_send(c->link_fd, TELL_FILE, answer, len, e);
    json_auto_t *o = type == ASK_FILES ? json_loadb(answer, len, JSON_ALLOW_NUL, NULL) : NULL;
    if (type == ASK_FILES && !o)
        return err_set(e, ERR_PROTOCOL, 0, "the service gave an answer that is not JSON");
    if (o)
        print_list(o);
    else
        (void)printf("%s %s\n", questions[type].done, QUOTED(path));
    (void)fflush(stdout);
    return 0;
}

int files_answer(struct connections *c, const char *id, enum link_type type,
                 const struct buf *bytes, struct err *e)
{
    const char *all = buf_str(bytes), *newline = memchr(all, '\n', bytes->len);
    size_t path_len = newline ? (size_t)(newline - all) : bytes->len;
    autofree char *path = strndup(all, path_len);
    if (!path)
        return err_no_memory(e, "a path");
    if (ask_service(c, id, type, path, newline ? newline + 1 : "",
                    newline ? bytes->len - path_len - 1 : 0, e) == 0)
        return show_answer(c, type, path, e);
    if (e->code == ERR_NOT_FOUND) /* a file that is missing, which is not the end of the session */
        e->code = ERR_CONFLICT;
    return -1;
}
