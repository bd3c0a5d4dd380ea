/* The JSON of a run, from the tables of run options and limits. */
#include "cli/run/remote_request.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/repl/repl_mounts.h"
#include "network/inject.h"
#include "spec/bundle.h"

static bool list_is_utf8(char *const *list)
{
    for (; list && *list; list++)
        if (!text_is_utf8(*list, strlen(*list)))
            return false;
    return true;
}

static bool pairs_are_utf8(const struct file_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!text_is_utf8(pairs[i].name, strlen(pairs[i].name)))
            return false;
    return true;
}

/* As base64, these bytes nearly reach the default of http.max_body. */
enum { FILES_MAX = 20 << 20 };

static bool fits(int bundle_fd)
{
    struct stat st;
    return fstat(bundle_fd, &st) == 0 && st.st_size <= FILES_MAX;
}

static bool options_are_utf8(const struct run_options *o)
{
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (run_option_defs[i].kind == RUN_OPTION_LIST &&
            !list_is_utf8(*(char *const *const *)run_option_of_const(o, &run_option_defs[i])))
            return false;
    return true;
}

bool remote_request_possible(const struct run_arguments *o, const struct inputs *in)
{
    return fits(in->bundle_fd) && list_is_utf8(o->args) && list_is_utf8(o->allow_net) &&
           list_is_utf8(o->env) && options_are_utf8(&o->run_options) &&
           pairs_are_utf8(o->files, o->n_files) && pairs_are_utf8(o->outs, o->n_outs) &&
           text_is_utf8(in->main_name, strlen(in->main_name));
}

/* Takes the reference. A value is NULL only for want of memory; then *failed is set. */
static void put(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new_nocheck(object, key, value))
        *failed = true;
}

static void append(json_t *list, json_t *value, bool *failed)
{
    if (json_array_append_new(list, value))
        *failed = true;
}

static json_t *base64(const char *bytes, size_t n, bool *failed)
{
    scoped(buf) text = { 0 };
    struct err e;
    *failed = text_add_base64(&text, bytes, n, &e) || *failed;
    return json_stringn_nocheck(buf_str(&text), text.len);
}

static json_t *file_object(const struct bundle_entry *entry, bool *failed)
{
    json_t *o = json_object();
    bool text = text_is_utf8(entry->bytes, entry->head.size);
    put(o, "name", json_stringn_nocheck(entry->name, entry->head.name_len), failed);
    put(o, "content",
        text ? json_stringn_nocheck(entry->bytes, entry->head.size)
             : base64(entry->bytes, entry->head.size, failed),
        failed);
    put(o, "encoding", json_string(text ? "utf-8" : "base64"), failed);
    if (entry->head.mode & 0100)
        put(o, "executable", json_true(), failed);
    return o;
}

static int put_files(json_t *o, int bundle_fd, bool *failed, struct err *e)
{
    scoped(buf) bundle = { 0 };
    struct bundle_entry entry;
    bool more = true;
    json_t *list = json_array();
    put(o, "files", list, failed);
    if (lseek(bundle_fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the files again");
    if (fd_read_to_buf(bundle_fd, BUNDLE_STREAM_MAX, &bundle, e))
        return -1;
    for (size_t pos = 0; !*failed;) {
        if (bundle_next(&bundle, &pos, &entry, &more, e))
            return -1;
        if (!more)
            break;
        append(list, file_object(&entry, failed), failed);
    }
    /* The other holders of the descriptor read from its start. */
    if (lseek(bundle_fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the files again");
    return 0;
}

static json_t *env_object(char *const *env, bool *failed)
{
    json_t *o = json_object();
    for (; env && *env; env++) {
        size_t len = strcspn(*env, "="); /* env_check() has made sure that there is one */
        autofree char *name = strndup(*env, len);
        if (!name)
            *failed = true;
        else
            put(o, name, json_string_nocheck(*env + len + 1), failed);
    }
    return o;
}

static json_t *limits_object(const struct limits *l, limit_set given, bool *failed)
{
    json_t *limits = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (given & LIMIT_BIT(i))
            put(limits, limit_defs[i].key, json_integer((json_int_t)l->v[i]), failed);
    return limits;
}

static void put_list(json_t *q, const char *key, char *const *list, bool *failed)
{
    json_t *array = list ? json_array() : NULL;
    for (; list && *list; list++)
        append(array, json_string_nocheck(*list), failed);
    if (array)
        put(q, key, array, failed);
}

/* Options that are not given are left out: the service has the same defaults. */
static void put_run_option(json_t *q, const struct run_options *o, const struct run_option_def *d,
                           bool *failed)
{
    const void *value = run_option_of_const(o, d);
    if (!run_option_is_given(o, d))
        return;
    switch (d->kind) {
    case RUN_OPTION_BOOL:
        put(q, d->key, json_true(), failed);
        return;
    case RUN_OPTION_LIST:
        put_list(q, d->key, *(char *const *const *)value, failed);
        return;
    case RUN_OPTION_CHOICE:
        put(q, d->key, json_string(d->words[*(const unsigned *)value]), failed);
        return;
    case RUN_OPTION_LIMITS:
        put(q, d->key, limits_object(value, o->compile_limits_given, failed), failed);
        return;
    }
}

static json_t *inject_array(char *const *list, bool *failed)
{
    json_t *all = json_array();
    for (; *list; list++) {
        struct network_inject x;
        struct err ignored;
        char host[NETWORK_NAME_MAX + 8];
        if (network_inject_parse(*list, &x, &ignored)) {
            *failed = true;
            continue;
        }
        (void)snprintf(host, sizeof host, "%s:%u", x.host, x.port);
        append(all,
               json_pack("{s:s, s:s, s:s, s:s}", "host", host, "header", x.header, "secret",
                         x.secret, "prefix", x.prefix),
               failed);
    }
    return all;
}

static json_t *mounts_array(const struct run_arguments *o)
{
    const struct repl_mounts m = { .dirs = o->mount_roots,
                                   .names = o->mount_names,
                                   .secrets = o->mount_secrets };
    return repl_mounts_object(&m);
}

/* Stages, or one program with its arguments. */
static void put_programs(json_t *q, const struct run_arguments *o, const struct inputs *in,
                         bool *failed)
{
    if (o->stages) {
        put(q, "stages", json_incref(o->stages), failed);
        if (o->strict)
            put(q, "strict_limits", json_true(), failed);
        return;
    }
    json_t *args = json_array();
    for (char *const *arg = o->args; *arg; arg++)
        append(args, json_string_nocheck(*arg), failed);
    put(q, "language", json_string(in->language->name), failed);
    put(q, "entry", json_string_nocheck(in->main_name), failed);
    put(q, "args", args, failed);
}

static void put_options(json_t *q, const struct run_arguments *o, bool *failed)
{
    json_t *outputs = json_array();
    for (size_t i = 0; i < o->n_outs; i++)
        append(outputs, json_string_nocheck(o->outs[i].name), failed);
    put(q, "outputs", outputs, failed);
    put(q, "env", env_object(o->env, failed), failed);
    put(q, "limits", limits_object(&o->limits, o->limits_given, failed), failed);
    put(q, "read_only", json_boolean(!o->writable_root), failed);
    if (o->mount_roots)
        put(q, "mounts", mounts_array(o), failed);
    if (o->full_network)
        put(q, "network", json_string("full"), failed);
    if (o->allow_net) {
        json_t *network = json_object();
        put(q, "network", network, failed);
        put_list(network, "allow", o->allow_net, failed);
        if (o->inject)
            put(network, "inject", inject_array(o->inject, failed), failed);
    }
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        put_run_option(q, &o->run_options, &run_option_defs[i], failed);
}

static int take_to_buf(const char *bytes, size_t n, void *context)
{
    struct err e;
    return buf_add(context, bytes, n, &e);
}

static int dump(const json_t *object, bool failed, struct buf *b, struct err *e)
{
    if (failed || json_dump_callback(object, take_to_buf, b, JSON_COMPACT))
        return err_no_memory(e, "a request to the service");
    return 0;
}

/* A run from a template, and a run with stages, have all their stdin at their start. */
static int put_stdin(json_t *q, const struct inputs *in, bool *failed, struct err *e)
{
    enum { STDIN_MAX = 4 << 20 };
    scoped(buf) bytes = { 0 };
    struct stat st;
    if (in->stdin_fd < 0 || fstat(in->stdin_fd, &st) < 0 || S_ISCHR(st.st_mode)) /* a terminal */
        return 0;
    if (fd_read_to_buf(in->stdin_fd, STDIN_MAX, &bytes, e))
        return err_wrap(e, "read the input of the program");
    put(q, "stdin", base64(buf_str(&bytes), bytes.len, failed), failed);
    put(q, "stdin_encoding", json_string("base64"), failed);
    return 0;
}

json_t *remote_request_object(const struct run_arguments *o, const struct inputs *in, struct err *e)
{
    json_t *q = json_object();
    bool failed = false;
    put_programs(q, o, in, &failed);
    put_options(q, o, &failed);
    if (o->template)
        put(q, "template", json_string_nocheck(o->template), &failed);
    if (((o->template || o->stages) && put_stdin(q, in, &failed, e)) ||
        put_files(q, in->bundle_fd, &failed, e) ||
        (failed && err_no_memory(e, "a request to the service"))) {
        json_decref(q);
        return NULL;
    }
    return q;
}

int remote_request_run(const struct run_arguments *o, const struct inputs *in, bool stdin_open,
                       struct buf *b, struct err *e)
{
    bool failed = false;
    json_t *q = remote_request_object(o, in, e);
    if (!q)
        return -1;
    if (!o->stages)
        put(q, "stdin_open", json_boolean(stdin_open), &failed);
    put(q, "stream", json_true(), &failed);
    put(q, "cancel_on_disconnect", json_true(), &failed);
    int rc = dump(q, failed, b, e);
    json_decref(q);
    return rc;
}

json_t *remote_request_bytes(const char *bytes, size_t n, const char **ret_encoding)
{
    bool text = text_is_utf8(bytes, n), failed = false;
    *ret_encoding = text ? "utf-8" : "base64";
    return text ? json_stringn_nocheck(bytes, n) : base64(bytes, n, &failed);
}

int remote_request_stdin(const char *bytes, size_t n, struct buf *b, struct err *e)
{
    json_t *q = json_object();
    bool failed = false;
    if (n == 0) {
        put(q, "eof", json_true(), &failed);
    } else {
        put(q, "data", base64(bytes, n, &failed), &failed);
        put(q, "encoding", json_string("base64"), &failed);
    }
    int rc = dump(q, failed, b, e);
    json_decref(q);
    return rc;
}
