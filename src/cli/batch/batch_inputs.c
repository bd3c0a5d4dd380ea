#include "cli/batch/batch_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/run/remote_request.h"

enum { FILE_MAX = 16 << 20, LIST_MAX = 64 << 20, PATH_SIZE = 4096 };

static const char input_end[] = ".in";
static const char *const expected_ends[] = { ".out", ".ans", ".expected" };

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

static bool is_expected(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(expected_ends); i++)
        if (ends_with(name, expected_ends[i]))
            return true;
    return false;
}

static int read_file(const char *path, size_t max, struct buf *ret, struct err *e)
{
    struct stat st;
    /* O_NONBLOCK: a FIFO without a writer must not block us */
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_BAD_REQUEST, errno, "input '%s'",
                       QUOTED(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_BAD_REQUEST, 0, "input '%s' is no regular file", QUOTED(path));
    return fd_read_to_buf(fd, max, ret, e) ? err_wrap(e, "input '%s'", QUOTED(path)) : 0;
}

/* The expected output beside an input: 1.out for 1.in, or NAME.out for any NAME. */
static bool find_expected(const char *path, char out[PATH_SIZE])
{
    size_t stem = strlen(path) - (ends_with(path, input_end) ? strlen(input_end) : 0);
    for (size_t i = 0; i < ARRAY_LEN(expected_ends); i++) {
        int n = snprintf(out, PATH_SIZE, "%.*s%s", (int)stem, path, expected_ends[i]);
        struct stat st;
        if (n > 0 && n < PATH_SIZE && stat(out, &st) == 0)
            return true;
    }
    return false;
}

static int add_expected(json_t *input, const char *path, struct err *e)
{
    char beside[PATH_SIZE];
    scoped(buf) bytes = { 0 };
    if (!find_expected(path, beside))
        return 0;
    if (read_file(beside, FILE_MAX, &bytes, e))
        return -1;
    if (!text_is_utf8(buf_str(&bytes), bytes.len))
        return err_set(e, ERR_BAD_REQUEST, 0, "expected output '%s' is not UTF-8 text",
                       QUOTED(beside));
    return json_object_set_new(input, "expected", json_stringn_nocheck(buf_str(&bytes), bytes.len))
               ? err_no_memory(e, "the inputs")
               : 0;
}

static int add_file(json_t *list, const char *path, struct err *e)
{
    scoped(buf) bytes = { 0 };
    const char *slash = strrchr(path, '/'), *encoding;
    const char *name = slash ? slash + 1 : path;
    size_t len = strlen(name) - (ends_with(name, input_end) ? strlen(input_end) : 0);
    scoped(buf) label = { 0 };
    if (read_file(path, FILE_MAX, &bytes, e) ||
        text_add_utf8(&label, name, len < 200 ? len : 200, e))
        return -1;
    json_t *text = remote_request_bytes(buf_str(&bytes), bytes.len, &encoding);
    json_t *input = json_pack("{s:s, s:o, s:s}", "name", buf_str(&label), "stdin", text,
                              "stdin_encoding", encoding);
    if (!input || json_array_append_new(list, input))
        return err_no_memory(e, "the inputs");
    return add_expected(input, path, e);
}

/* ---- directories ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name); /* 2.in before 10.in */
}

static int is_shown(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int add_names(json_t *list, const char *path, struct dirent **names, int n, bool only_in,
                     struct err *e)
{
    for (int i = 0; i < n; i++) {
        char file[PATH_SIZE];
        struct stat st;
        const char *name = names[i]->d_name;
        int used = snprintf(file, sizeof file, "%s/%s", path, name);
        if (only_in ? !ends_with(name, input_end) : is_expected(name))
            continue;
        if (used < 0 || used >= (int)sizeof file || stat(file, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        if (add_file(list, file, e))
            return -1;
    }
    return 0;
}

/* The files NAME.in. If there are none, all files that are no expected output. */
static int add_directory(json_t *list, const char *path, struct err *e)
{
    struct dirent **names = NULL;
    size_t before = json_array_size(list);
    bool only_in = false;
    int n = scandir(path, &names, is_shown, by_name);
    if (n < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "read the directory '%s'", QUOTED(path));
    for (int i = 0; i < n; i++)
        only_in = only_in || ends_with(names[i]->d_name, input_end);
    int rc = add_names(list, path, names, n, only_in, e);
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    if (rc == 0 && json_array_size(list) == before)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the directory '%s' has no input: files such as 1.in, with the expected "
                       "output in 1.out, are accepted",
                       QUOTED(path));
    return rc;
}

/* ---- lists in JSON ---- */

static int add_list(json_t *list, const char *path, struct err *e)
{
    scoped(buf) text = { 0 };
    json_error_t where;
    if (read_file(path, LIST_MAX, &text, e))
        return -1;
    json_auto_t *all = json_loadb(buf_str(&text), text.len, JSON_REJECT_DUPLICATES, &where);
    if (!all)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is no JSON: line %d: %.80s", QUOTED(path),
                       where.line, where.text);
    const json_t *inputs = json_is_object(all) ? json_object_get(all, "inputs") : all;
    if (!json_is_array(inputs) || json_array_size(inputs) == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' has no inputs: a list such as [{\"name\": \"1\", \"stdin\": \"2\", "
                       "\"expected\": \"4\"}] is accepted",
                       QUOTED(path));
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        json_t *input = json_array_get(inputs, i);
        if (!json_is_object(input))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "'%s': input %zu is no object with \"stdin\", \"args\" or \"expected\"",
                           QUOTED(path), i + 1);
        if (json_array_append(list, input))
            return err_no_memory(e, "the inputs");
    }
    return 0;
}

int batch_inputs_add(json_t *list, const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_BAD_REQUEST, errno, "input '%s'",
                       QUOTED(path));
    if (S_ISDIR(st.st_mode))
        return add_directory(list, path, e);
    return ends_with(path, ".json") ? add_list(list, path, e) : add_file(list, path, e);
}
