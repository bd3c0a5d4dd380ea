/* Reads the program and the files of `belljar run`, and packs them into a bundle. */
#include "cli/run/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/text.h"
#include "normalise/normalise.h"
#include "runtime/version.h"
#include "spec/bundle.h"

enum { STDIN_MAX = 4 << 20 }; /* of stages */

void inputs_done(struct inputs *in)
{
    fd_close(&in->bundle_fd);
    if (in->stdin_fd > 2)
        fd_close(&in->stdin_fd);
    terminal_done(&in->terminal);
}

static int open_file(const char *path, const char *what, uint64_t max, int *ret_fd,
                     mode_t *ret_mode, struct err *e)
{
    char quoted[96];
    struct stat st;
    text_quote(path, quoted, sizeof quoted);
    /* O_NONBLOCK: a FIFO without a writer must not block us */
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_BAD_REQUEST, errno, "%s '%s'", what,
                       quoted);
    if (S_ISDIR(st.st_mode))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is a directory: a file is accepted", what,
                       quoted);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
        return err_set(e, ERR_TOO_LARGE, 0, "%s '%s' has %lld bytes: up to %llu are accepted", what,
                       quoted, (long long)st.st_size, (unsigned long long)max);
    if (fcntl(fd, F_SETFL, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "%s '%s'", what, quoted);
    *ret_mode = st.st_mode;
    *ret_fd = fd_take(&fd);
    return 0;
}

static int read_file(const char *path, const char *what, struct buf *b, mode_t *ret_mode,
                     struct err *e)
{
    autoclose int fd = -1;
    if (open_file(path, what, BUNDLE_FILE_MAX_BYTES, &fd, ret_mode, e))
        return -1;
    if (fd_read_to_buf(fd, BUNDLE_FILE_MAX_BYTES, b, e)) {
        return err_wrap(e, "%s '%s'", what, QUOTED(path));
    }
    return 0;
}

/* Finds the program in the text: the text may be a Markdown file or a session. */
static int find_program(struct inputs *in, const struct run_arguments *o, const struct buf *text,
                        struct normalised *n, struct err *e)
{
    char quoted[96], known[200], likely[128];
    const struct normalise_request q = { .text = buf_str(text),
                                         .len = text->len,
                                         .given = o->language,
                                         .file_name = strcmp(o->file, "-") == 0 ? NULL : o->file };
    text_quote(o->file, quoted, sizeof quoted);
    if (normalise(&q, n, e))
        return err_wrap(e, "'%s'", quoted);
    in->language = n->language;
    if (in->language && !version_program_exists(in->language))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "language '%s' is not installed here: '%s' installs it, or 'belljar "
                       "languages install %s'",
                       in->language->name, in->language->install, in->language->name);
    if (in->language)
        return 0;
    if (n->fence[0])
        return language_refuse(n->fence, e);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the language of '%s' cannot be inferred%s: give -l with one of %s", quoted,
                   normalise_likely(n, likely, sizeof likely), language_list(known, sizeof known));
}

/* Compilers go by the ends of file names: g++ does not compile answer.txt, even with -l cpp. */
static int name_main(struct inputs *in, const struct run_arguments *o, const struct normalised *n,
                     bool nameless, struct err *e)
{
    const struct language *l = in->language;
    char own[MAIN_NAME_SIZE];
    const char *slash = strrchr(o->file, '/');
    const char *name = slash ? slash + 1 : o->file;
    if (nameless || ((l->compile || l->check) && !language_has(l, name, strlen(name))))
        name = language_main_name(l, buf_str(&n->code), n->code.len, own);
    if (bundle_name_check(name, strlen(name), e))
        return -1;
    (void)snprintf(in->main_name, sizeof in->main_name, "%s", name);
    return 0;
}

static int load_main(struct inputs *in, const struct run_arguments *o, struct buf *bundle,
                     struct err *e)
{
    scoped(buf) code = { 0 };
    mode_t mode = 0644;
    bool nameless = strcmp(o->file, "-") == 0;
    if (o->code) {
        if (buf_add(&code, o->code, strlen(o->code), e))
            return -1;
    } else if (nameless) {
        if (fd_read_to_buf(0, BUNDLE_FILE_MAX_BYTES, &code, e))
            return err_wrap(e, "the program on stdin");
    } else if (read_file(o->file, "program", &code, &mode, e)) {
        return -1;
    }
    if (code.len == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "program '%s' is empty: at least one byte of code is needed",
                       o->code ? "-c" : QUOTED(o->file));
    scoped(normalised) n = { 0 };
    if (find_program(in, o, &code, &n, e) || name_main(in, o, &n, nameless || n.renamed, e))
        return -1;
    return bundle_add(bundle, in->main_name, (uint32_t)(mode & 0777) | 0400, buf_str(&n.code),
                      n.code.len, e);
}

/* Two names clash if they are the same, or if one would be a directory of the other. */
static bool names_clash(const char *a, const char *b)
{
    size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    return strncmp(a, b, n) == 0 && (a[n] == '/' || b[n] == '/' || a[n] == b[n]);
}

static int check_clashes(const struct run_arguments *o, const char *main_name, size_t i,
                         struct err *e)
{
    char quoted[96], other[96];
    const char *name = o->files[i].name, *clash = names_clash(main_name, name) ? main_name : NULL;
    text_quote(name, quoted, sizeof quoted);
    for (size_t k = 0; k < i && !clash; k++)
        clash = names_clash(o->files[k].name, name) ? o->files[k].name : NULL;
    if (!clash)
        return 0;
    if (strcmp(clash, name) != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "file name '%s' clashes with the file '%s': choose another", quoted,
                       text_quote(clash, other, sizeof other));
    return err_set(e, ERR_BAD_REQUEST, 0, "file name '%s' is %s: choose another", quoted,
                   clash == main_name ? "the program's own" : "given twice");
}

static int load_files(const struct run_arguments *o, const char *main_name, struct buf *bundle,
                      struct err *e)
{
    for (size_t i = 0; i < o->n_files; i++) {
        scoped(buf) bytes = { 0 };
        mode_t mode = 0;
        if (check_clashes(o, main_name, i, e) ||
            read_file(o->files[i].host, "file", &bytes, &mode, e) ||
            bundle_add(bundle, o->files[i].name, (uint32_t)(mode & 0777) | 0400, bytes.data,
                       bytes.len, e))
            return -1;
        if (bundle->len > BUNDLE_MAX_BYTES)
            return err_set(e, ERR_TOO_LARGE, 0,
                           "the files are too large together: up to %llu bytes are accepted",
                           BUNDLE_MAX_BYTES);
    }
    return 0;
}

int inputs_load(struct inputs *ret, const struct run_arguments *o, struct err *e)
{
    scoped(inputs) in = INPUTS_INIT;
    scoped(buf) bundle = { 0 };
    mode_t mode;
    if (load_main(&in, o, &bundle, e) || load_files(o, in.main_name, &bundle, e) ||
        language_name_files(in.language, &bundle, in.main_name, e))
        return -1;
    if (o->stdin_file) {
        if (open_file(o->stdin_file, "stdin", UINT64_MAX, &in.stdin_fd, &mode, e))
            return -1;
    } else if (o->code || strcmp(o->file, "-") != 0) {
        in.stdin_fd = 0;
    }
    if (terminal_open(&in.terminal, &in.stdin_fd, e))
        return -1;
    if (fd_sealed_memory("belljar-files", &bundle, &in.bundle_fd, e))
        return -1;
    *ret = in;
    in = (struct inputs)INPUTS_INIT;
    return 0;
}

static int keep_stdin(struct inputs *in, const char *path, struct err *e)
{
    scoped(buf) bytes = { 0 };
    mode_t mode;
    autoclose int fd = -1;
    if (path && open_file(path, "stdin", UINT64_MAX, &fd, &mode, e))
        return -1;
    if (!path && isatty(0))
        return 0;
    if (fd_read_to_buf(path ? fd : 0, STDIN_MAX, &bytes, e))
        return e->code != ERR_TOO_LARGE
                   ? err_wrap(e, "the input of the stages")
                   : err_set(e, ERR_TOO_LARGE, 0,
                             "the input of the stages has more than %d MiB, and each of them reads "
                             "all of it: name its file on the command line, and read that file",
                             STDIN_MAX >> 20);
    return fd_sealed_memory("belljar-stdin", &bytes, &in->stdin_fd, e);
}

int inputs_load_files(struct inputs *ret, const struct run_arguments *o, struct err *e)
{
    scoped(inputs) in = INPUTS_INIT;
    scoped(buf) bundle = { 0 };
    if (load_files(o, "", &bundle, e) || keep_stdin(&in, o->stdin_file, e) ||
        fd_sealed_memory("belljar-files", &bundle, &in.bundle_fd, e))
        return -1;
    *ret = in;
    in = (struct inputs)INPUTS_INIT;
    return 0;
}

int inputs_files(const struct inputs *in, struct buf *ret, struct err *e)
{
    scoped(buf) files = { 0 };
    if (lseek(in->bundle_fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the files again");
    if (fd_read_to_buf(in->bundle_fd, BUNDLE_STREAM_MAX, &files, e))
        return -1;
    *ret = files;
    files = (struct buf){ 0 };
    return 0;
}
