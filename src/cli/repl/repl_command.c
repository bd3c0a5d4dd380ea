/* `belljar repl`: a session at the terminal. main has the terminal and the files of the caller; the
 * talker (talker.h) speaks to the service and prints. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/process.h"
#include "base/strv.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/repl/input.h"
#include "cli/repl/link.h"
#include "cli/repl/live_files.h"
#include "cli/repl/notebook.h"
#include "cli/repl/passing.h"
#include "cli/repl/private_service.h"
#include "cli/repl/repl.h"
#include "cli/repl/repl_mounts.h"
#include "cli/repl/talker.h"
#include "cli/run/remote.h"
#include "cli/run/run_mounts.h"
#include "run/json.h"
#include "run/keeper_uid.h"
#include "runtime/language.h"
#include "spec/limit.h"

enum {
    FILE_MAX = 16 << 20,
    MATCHES_SHOWN = 100,
    SESSION_LOST = 1,
    CELL_FAILED = 1,
    SIGNALLED = 128
};
enum { WATCH_LINK, WATCH_SIGNALS };

struct repl_options {
    const char *session;
    char **allow_net; /* NULL: none */
    struct repl_mounts mounts;
    bool keeps, local;
    struct service_choice service;
    struct limits limits;
    limit_set given;
};

struct repl {
    const struct language *language;
    struct input input;
    struct input_watch watch;
    struct private_service service;
    struct service_choice at;
    int link_fd, signal_fd;
    pid_t talker;
    struct keeper_uid uid;
    const char *save_as; /* the file that the next TELL_FILE is for */
    int save_flags;      /* O_TRUNC, or O_EXCL for a new file */
    struct buf matches;  /* of the last completion */
    json_t *network;     /* of a new session; NULL: none */
    json_t *mounts;      /* the same */
    unsigned images;
    bool failed; /* the last cell did not end well */
    bool over;   /* the session has ended */
    bool quits;  /* the caller ends it */
    int signal;  /* that ends us; 0: none */
};

static void repl_done(struct repl *r)
{
    input_done(&r->input);
    fd_close(&r->link_fd);
    if (r->talker > 0)
        (void)waitpid(r->talker, NULL, 0);
    private_service_done(&r->service);
    fd_close(&r->signal_fd);
    keeper_uid_done(&r->uid);
    buf_done(&r->matches);
    json_decref(r->network);
    json_decref(r->mounts);
}

/* ---- files ---- */

static int write_file(const char *name, int flags, const char *bytes, size_t n)
{
    autoclose int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, 0666);
    return fd < 0 || fd_write_all(fd, bytes, n) ? -1 : 0;
}

static void tell_saved(const char *name, int failed)
{
    if (failed)
        (void)fprintf(stderr, "belljar: write '%s': %s\n", QUOTED(name), strerror(errno));
    else
        (void)printf("saved %s\n", QUOTED(name));
    (void)fflush(stdout);
}

/* An image goes into a new file of the current directory. */
static void save_image(struct repl *r, const struct buf *record)
{
    static const char *const ends[] = { "png", "jpg", "gif", "svg" };
    const char *newline = strchr(buf_str(record), '\n'), *end = NULL;
    char name[64];
    int failed;
    for (size_t i = 0; newline && i < ARRAY_LEN(ends); i++)
        if (strncmp(record->data, ends[i], strlen(ends[i])) == 0)
            end = ends[i];
    if (!end)
        return;
    do {
        (void)snprintf(name, sizeof name, "image-%u.%s", ++r->images, end);
        failed = write_file(name, O_EXCL, newline + 1,
                            record->len - (size_t)(newline + 1 - record->data));
    } while (failed && errno == EEXIST);
    tell_saved(name, failed);
}

/* ---- questions to the talker ---- */

/* Reads a signal. True if it is Ctrl-C at a terminal without an editor, which reads it as a key. */
static bool on_signal(struct repl *r)
{
    struct signalfd_siginfo info;
    if (read(r->signal_fd, &info, sizeof info) != sizeof info)
        return false;
    if (info.ssi_signo == SIGINT && isatty(0))
        return true;
    if (info.ssi_signo == SIGCONT)
        input_resume(&r->input);
    else
        r->signal = (int)info.ssi_signo;
    return false;
}

static int answer_prompt(struct repl *r, const struct buf *prompt, bool hidden, struct err *e)
{
    scoped(buf) line = { 0 };
    enum input_event event;
    if (input_line(&r->input, buf_str(prompt), hidden, &line, &event, e))
        return -1;
    enum link_type type = event == INPUT_TEXT          ? ASK_INPUT
                          : event == INPUT_INTERRUPTED ? ASK_INTERRUPT
                                                       : ASK_INPUT_END;
    return link_send(r->link_fd, type, buf_str(&line), line.len, e);
}

static int on_record(struct repl *r, enum link_type type, struct buf *record, bool *ret_done,
                     struct err *e)
{
    switch (type) {
    case TELL_OVER:
        r->over = true;
        if (record->len)
            (void)fprintf(stderr, "belljar: %s\n", buf_str(record));
        *ret_done = true;
        return 0;
    case TELL_CONNECT:
        return passing_send(r->link_fd, &r->at, e);
    case TELL_PROMPT:
    case TELL_PASSWORD:
        return answer_prompt(r, record, type == TELL_PASSWORD, e);
    case TELL_FILE:
        if (r->save_as)
            tell_saved(r->save_as,
                       write_file(r->save_as, r->save_flags, buf_str(record), record->len));
        return 0;
    case TELL_IMAGE:
        save_image(r, record);
        return 0;
    case TELL_MATCHES:
        r->matches.len = 0;
        return buf_add(&r->matches, buf_str(record), record->len, e);
    default:
        r->failed = record->len > 0;
        *ret_done = true;
        return 0;
    }
}

/* Waits for the end of the answer. Ctrl-C interrupts the cell. */
static int wait_done(struct repl *r, struct err *e)
{
    scoped(buf) record = { 0 };
    bool done = false;
    while (!done && !r->signal) {
        struct pollfd polls[] = { { r->link_fd, POLLIN, 0 },
                                  { r->input.edits && !r->input.ended ? 0 : -1, POLLIN, 0 },
                                  { r->signal_fd, POLLIN, 0 } };
        enum link_type type;
        if (poll(polls, ARRAY_LEN(polls), -1) < 0)
            continue;
        bool interrupts = (polls[1].revents && input_typed(&r->input)) ||
                          (polls[2].revents && on_signal(r));
        if (interrupts && link_send(r->link_fd, ASK_INTERRUPT, "", 0, e))
            return -1;
        if (polls[0].revents &&
            (link_receive(r->link_fd, &type, &record, e) || on_record(r, type, &record, &done, e)))
            return -1;
    }
    return 0;
}

/* While a person types: the talker wants a connection, or the session has ended. */
static bool on_watched(void *arg, size_t i)
{
    struct repl *r = arg;
    scoped(buf) record = { 0 };
    enum link_type type;
    struct err e = { 0 };
    if (i == WATCH_SIGNALS)
        (void)on_signal(r);
    else if (link_receive(r->link_fd, &type, &record, &e) == 0 && type == TELL_CONNECT)
        r->over = passing_send(r->link_fd, &r->at, &e);
    else if (e.code || type == TELL_OVER)
        r->over = true;
    if (e.code || (r->over && record.len)) /* below the line that is typed */
        (void)fprintf(stderr, "\r\nbelljar: %s\r\n", e.code ? e.text : buf_str(&record));
    return !r->over && !r->signal;
}

static int ask(struct repl *r, enum link_type type, const char *bytes, size_t n, struct err *e)
{
    if (link_send(r->link_fd, type, bytes, n, e))
        return -1;
    /* Ctrl-C may have been read together with the Enter of the cell. */
    if (type == ASK_EXEC && input_interrupts(&r->input) &&
        link_send(r->link_fd, ASK_INTERRUPT, "", 0, e))
        return -1;
    return wait_done(r, e);
}

/* ---- completion ---- */

/* The byte at which a character begins; the end of the text if there are fewer. */
static size_t byte_of(const struct buf *text, long character)
{
    size_t at = 0;
    for (; at < text->len; at++)
        if (((unsigned char)text->data[at] & 0xC0) != 0x80 && character-- == 0)
            break;
    return at;
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n)
        if ((n = text_printable(text + i, len - i)) == 0)
            return false;
    return true;
}

/* The length of the beginning that all completions share. */
static size_t common(const char *words, size_t *ret_count)
{
    size_t shared = strcspn(words, "\n"), count = 0;
    for (const char *w = words; *w; w += strcspn(w, "\n"), w += *w == '\n') {
        size_t n = 0;
        while (n < shared && w[n] == words[n])
            n++;
        shared = n;
        count++;
    }
    while (shared > 0 && ((unsigned char)words[shared] & 0xC0) == 0x80)
        shared--;
    *ret_count = count;
    return shared;
}

/* The completions in columns. */
static void list_matches(const char *words, int columns)
{
    size_t widest = 1, shown = 0, place = 0;
    for (const char *w = words; *w; w += strcspn(w, "\n"), w += *w == '\n') {
        size_t n = text_columns(w, strcspn(w, "\n"));
        widest = n > widest && n < 60 ? n : widest;
    }
    size_t in_row = (size_t)(columns > 20 ? columns : 20) / (widest + 2);
    in_row = in_row ? in_row : 1;
    for (const char *w = words; *w && shown < MATCHES_SHOWN; shown++) {
        size_t n = strcspn(w, "\n"), width = text_columns(w, n);
        if (is_plain(w, n)) {
            bool last = ++place % in_row == 0;
            (void)printf("%.*s%*s", (int)n, w,
                         last || width > widest ? 0 : (int)(widest + 2 - width), "");
            (void)fputs(last ? "\n" : "", stdout);
        }
        w += n + (w[n] == '\n');
    }
    if (place % in_row)
        (void)printf("\n");
    (void)fflush(stdout);
}

static int on_tab(void *arg, struct input *in, struct err *e)
{
    struct repl *r = arg;
    struct editor *d = &in->editor;
    scoped(buf) question = { 0 };
    r->matches.len = 0;
    if (buf_addf(&question, e, "%zu\n%s", text_characters(buf_str(&d->text), d->cursor),
                 buf_str(&d->text)) ||
        ask(r, ASK_COMPLETE, question.data, question.len, e))
        return -1;
    char *words;
    long from = strtol(buf_str(&r->matches), &words, 10);
    long to = *words ? strtol(words, &words, 10) : 0;
    words += *words == '\n';
    size_t count, shared = common(words, &count), begin = byte_of(&d->text, from);
    size_t end = byte_of(&d->text, to);
    if (count == 0 || from < 0 || begin > end || !is_plain(words, shared))
        return 0;
    if (count > 1 && shared <= end - begin) {
        scoped(buf) below = { 0 };
        if (editor_draw(d, true, &below, e))
            return -1;
        input_show(below.data, below.len);
        list_matches(words, d->columns);
    }
    return shared >= end - begin ? editor_replace(d, begin, end, words, shared, e) : 0;
}

/* ---- commands ---- */

static int help(struct repl *r, const char *operand, struct err *e);

static int variables(struct repl *r, const char *operand, struct err *e)
{
    (void)operand;
    return ask(r, ASK_VARIABLES, "", 0, e);
}

static int limits(struct repl *r, const char *operand, struct err *e)
{
    (void)operand;
    return ask(r, ASK_LIMITS, "", 0, e);
}

static int restart(struct repl *r, const char *operand, struct err *e)
{
    (void)operand;
    return ask(r, ASK_RESTART, "", 0, e);
}

static int travel(struct repl *r, const char *name, const char *operand, struct err *e)
{
    scoped(buf) question = { 0 };
    return buf_addf(&question, e, "%s\n%s", name, operand) ||
                   ask(r, ASK_TRAVEL, question.data, question.len, e)
               ? -1
               : 0;
}

static int save_notebook(struct repl *r, const char *operand, struct err *e)
{
    if (!*operand) {
        (void)fprintf(stderr, "belljar: ':save' needs a file name: ':save notes.ipynb'\n");
        return 0;
    }
    r->save_as = operand;
    r->save_flags = O_TRUNC;
    int rc = ask(r, ASK_NOTEBOOK, "", 0, e);
    r->save_as = NULL;
    return rc;
}

static int files(struct repl *r, const char *operand, struct err *e)
{
    scoped(files_request) q = { 0 };
    struct err why = { 0 };
    if (files_request_read(operand, &q, &why)) {
        (void)fprintf(stderr, "belljar: %s\n", why.text);
        return 0;
    }
    r->save_as = q.save_as;
    r->save_flags = q.is_new ? O_EXCL : O_TRUNC;
    int rc = ask(r, q.type, buf_str(&q.bytes), q.bytes.len, e);
    r->save_as = NULL;
    return rc;
}

/* Runs the code of a file as one cell. */
static int load(struct repl *r, const char *operand, struct err *e)
{
    scoped(buf) code = { 0 };
    struct err why;
    if (!*operand) {
        (void)fprintf(stderr, "belljar: ':load' needs a file name: ':load program.py'\n");
        return 0;
    }
    autoclose int fd = open(operand, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        (void)!err_set(&why, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(operand));
    if (fd < 0 || fd_read_to_buf(fd, FILE_MAX, &code, &why)) {
        (void)fprintf(stderr, "belljar: %s\n", why.text);
        return 0;
    }
    return ask(r, ASK_EXEC, buf_str(&code), code.len, e);
}

static int quit(struct repl *r, const char *operand, struct err *e)
{
    (void)operand;
    (void)e;
    r->quits = true;
    return 0;
}

static const struct repl_row {
    const char *name, *operand, *help;
    int (*run)(struct repl *r, const char *operand, struct err *e); /* NULL: travel() */
} commands_of_repl[] = {
    { "help", "", "show this text", help },
    { "vars", "", "show the variables", variables },
    { "limits", "", "show the limits", limits },
    { "save", "NOTES.ipynb", "save the cells and their output as a notebook", save_notebook },
    { "files", "", "list the files of the session", files },
    { "files get", "PATH [LOCAL]", "copy a file out of the session", files },
    { "files put", "LOCAL [PATH]", "copy a file into the session", files },
    { "files rm", "PATH", "remove a file of the session", files },
    { "load", "FILE", "run the code of a file", load },
    { "undo", "[N]", "go back before the last cell, or the last N", NULL },
    { "keep", "N", "keep the states before the last N cells, for :undo", NULL },
    { "checkpoint", "[NAME]", "keep the present state", NULL },
    { "back", "NAME|CELL", "go back to a checkpoint, or to the state after a cell", NULL },
    { "tree", "", "show the session, its copies and their checkpoints", NULL },
    { "fork", "[NAME]", "copy the session with its variables and files", NULL },
    { "sleep", "", "put the session on the disk; the next cell wakes it", NULL },
    { "wake", "[replay]", "wake it; with 'replay', its cells run again if it cannot", NULL },
    { "restart", "", "begin again, without variables and files", restart },
    { "quit", "", "end the session; so does Ctrl-D", quit },
};

static int help(struct repl *r, const char *operand, struct err *e)
{
    (void)r;
    (void)operand;
    (void)e;
    for (size_t i = 0; i < ARRAY_LEN(commands_of_repl); i++) {
        const struct repl_row *row = &commands_of_repl[i];
        char term[40];
        (void)snprintf(term, sizeof term, ":%s %s", row->name, row->operand);
        (void)printf("%-25s%s\n", term, row->help);
    }
    static const char *const keys[][2] = { { "NAME?", "show the documentation of a name" },
                                           { "Tab", "complete a name" },
                                           { "Alt-Enter", "begin a new line" },
                                           { "Ctrl-C", "interrupt a cell, or drop the line" },
                                           { "Ctrl-L", "clear the screen" } };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        (void)printf("%-25s%s\n", keys[i][0], keys[i][1]);
    (void)fflush(stdout);
    return 0;
}

static int run_command_line(struct repl *r, char *line, struct err *e)
{
    char *operand = line + strcspn(line, " \t");
    if (*operand)
        *operand++ = '\0';
    operand = text_trim(operand);
    for (size_t i = 0; i < ARRAY_LEN(commands_of_repl); i++)
        if (strcmp(line, commands_of_repl[i].name) == 0)
            return commands_of_repl[i].run ? commands_of_repl[i].run(r, operand, e)
                                           : travel(r, line, operand, e);
    (void)fprintf(stderr, "belljar: there is no command ':%s': ':help' lists them\n", QUOTED(line));
    return 0;
}

static int take(struct repl *r, const struct buf *cell, struct err *e)
{
    autofree char *copy = strdup(buf_str(cell));
    if (!copy)
        return err_no_memory(e, "a cell");
    char *text = text_trim(copy);
    size_t len = strlen(text);
    if (len == 0)
        return 0;
    input_remember(&r->input, buf_str(cell));
    if (scan_is_command(text, len))
        return run_command_line(r, text + 1, e);
    if (scan_is_question(r->input.editor.syntax, text, len)) {
        bool first = text[0] == '?';
        return ask(r, ASK_INSPECT, text + first, len - 1, e);
    }
    return ask(r, ASK_EXEC, buf_str(cell), cell->len, e);
}

static int loop(struct repl *r, struct err *e)
{
    char prompt[LANGUAGE_NAME_SIZE + 8], more[LANGUAGE_NAME_SIZE + 8];
    int n = snprintf(prompt, sizeof prompt, "%s> ", r->language->name);
    (void)snprintf(more, sizeof more, "%*s", n, ". ");
    while (!r->over && !r->quits && !r->signal) {
        scoped(buf) cell = { 0 };
        enum input_event event;
        if (input_read(&r->input, prompt, more, on_tab, r, &cell, &event, e))
            return -1;
        if (event == INPUT_END)
            return 0;
        if (event == INPUT_TEXT && cell.len > 0 && take(r, &cell, e))
            return -1;
    }
    return 0;
}

/* ---- start ---- */

/* A private service if none is running, or if the caller wants one. */
static int find_service(struct repl *r, struct repl_options *o, struct err *e)
{
    struct client *c = NULL;
    r->service.network = r->network != NULL;
    r->service.set = o->mounts.set;
    r->at = o->service;
    if (o->local && o->service.url)
        return err_set(e, ERR_USAGE, 0, "--service and --local contradict each other: give one");
    int rc = o->local ? REMOTE_NONE : remote_connect(&r->at, &c, e);
    client_done(&c);
    if (rc != REMOTE_NONE)
        return rc;
    if (repl_mounts_allow(&o->mounts, e) || private_service_start(&r->service, e))
        return -1;
    r->at = (struct service_choice){ .state = r->service.state };
    return 0;
}

static json_t *limits_object(const struct repl_options *o, bool of_cells)
{
    static const limit_set cells = LIMIT_BIT(LIMIT_WALL_MS) | LIMIT_BIT(LIMIT_CPU_MS) |
                                   LIMIT_BIT(LIMIT_OUTPUT);
    limit_set wanted = o->given & (of_cells ? cells : ~cells);
    json_t *limits = wanted ? json_object() : NULL;
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (wanted & LIMIT_BIT(i))
            json_put(limits, limit_defs[i].key, json_integer((json_int_t)o->limits.v[i]));
    return limits;
}

/* Frees the hosts. */
static json_t *network_object(struct repl_options *o)
{
    if (!o->allow_net)
        return NULL;
    json_t *list = json_array();
    for (char **host = o->allow_net; *host; host++)
        (void)json_array_append_new(list, json_string(*host));
    strv_free(o->allow_net);
    o->allow_net = NULL;
    return json_pack("{s:o}", "allow", list);
}

static int start_talker(struct repl *r, const struct repl_options *o, struct err *e)
{
    int fds[2];
    pid_t us = getpid();
    if (keeper_uid_for_command(&r->uid, e))
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket pair");
    const struct talker_job job = { .language = r->language->name,
                                    .session = o->session,
                                    .limits = limits_object(o, false),
                                    .cell_limits = limits_object(o, true),
                                    .network = r->network,
                                    .mounts = r->mounts,
                                    .keeps = o->keeps,
                                    .link_fd = fds[1],
                                    .uid_fd = r->uid.lock_fd,
                                    .parent = us,
                                    .uid = r->uid.lock_fd >= 0 ? r->uid.uid : geteuid(),
                                    .images = input_images(&r->input) };
    r->link_fd = fds[0];
    r->talker = fork();
    if (r->talker == 0)
        _exit(talker_run(&job));
    (void)close(fds[1]);
    json_decref(job.limits);
    json_decref(job.cell_limits);
    return r->talker < 0
               ? err_set(e, ERR_KERNEL, errno, "start the process that talks to the service")
               : 0;
}

static int watch_signals(struct repl *r, struct err *e)
{
    sigset_t set;
    cli_signals(&set);
    sigaddset(&set, SIGCONT);
    if (process_watch_signals(&set, &r->signal_fd, e))
        return -1;
    r->watch = (struct input_watch){ { r->link_fd, r->signal_fd }, on_watched, r };
    r->input.watch = &r->watch;
    return 0;
}

static void greet(const struct repl *r)
{
    if (!r->input.edits)
        return;
    (void)printf("A %ssession of %s. :help lists commands, Ctrl-D ends it.\n",
                 r->service.directory[0] ? "private " : "", r->language->name);
    (void)fflush(stdout);
}

#define REPL_INIT                                                                                \
    {                                                                                            \
        .link_fd = -1, .signal_fd = -1, .uid = KEEPER_UID_INIT, .service = PRIVATE_SERVICE_INIT, \
        .input.history_fd = -1                                                                   \
    }

static int open_repl(struct repl *r, struct repl_options *o, const struct language *language,
                     struct err *e)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* the width of characters */
    r->language = language;
    r->network = network_object(o);
    r->mounts = repl_mounts_object(&o->mounts);
    limits_raise_cpu(&o->limits, o->given, limit_defs[LIMIT_CPU_MS].max);
    if (o->given & LIMIT_BIT(LIMIT_WALL_MS))
        o->given |= LIMIT_BIT(LIMIT_CPU_MS);
    /* The terminal first, so that it does not echo the text that is typed meanwhile. */
    int rc = repl_mounts_check(&o->mounts, o->session, e) ||
                     input_open(&r->input, language->name, e) || find_service(r, o, e) ||
                     start_talker(r, o, e) || watch_signals(r, e) || wait_done(r, e)
                 ? -1
                 : 0;
    repl_mounts_done(&o->mounts);
    return rc;
}

static int exit_status(const struct repl *r)
{
    return r->signal ? SIGNALLED + r->signal : r->over ? SESSION_LOST : 0;
}

static int repl(void *options, int argc, char **argv, struct err *e)
{
    const char *name = argc > 0 ? argv[0] : "python";
    const struct language *language = language_find(name);
    scoped(repl) r = REPL_INIT;
    if (!language)
        return language_refuse(name, e);
    if (open_repl(&r, options, language, e))
        return -1;
    if (r.over)
        return SESSION_LOST;
    greet(&r);
    return loop(&r, e) ? -1 : exit_status(&r);
}

int repl_run_notebook(const struct repl_notebook *job, struct err *e)
{
    struct repl_options o = {
        .limits = job->limits, .given = job->given, .local = job->local, .service = *job->service
    };
    scoped(notebook) n = { 0 };
    scoped(repl) r = REPL_INIT;
    if (notebook_read(job->path, job->language, &n, e))
        return -1;
    for (char **host = job->allow_net; host && *host; host++)
        if (strv_add(&o.allow_net, *host, e))
            return -1;
    if (open_repl(&r, &o, n.language, e))
        return -1;
    for (char **cell = n.cells; *cell && !r.over && !r.signal; cell++) {
        if (ask(&r, ASK_EXEC, *cell, strlen(*cell), e))
            return -1;
        if (r.failed)
            return CELL_FAILED;
    }
    return exit_status(&r);
}

/* ---- the command ---- */

static void init(void *options)
{
    ((struct repl_options *)options)->limits = limits_default();
}

static int set_limit(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct repl_options *o = options;
    enum limit_id id = (enum limit_id)((const struct limit_def *)row->def - limit_defs);
    o->given |= LIMIT_BIT(id);
    return limit_parse(id, value, &o->limits, e);
}

static size_t limit_rows(struct arg_row *out)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        out[i] = (struct arg_row){ .name = limit_defs[i].option,
                                   .metavar = limit_defs[i].metavar,
                                   .help = limit_defs[i].help,
                                   .group = "Limits",
                                   .apply = set_limit,
                                   .def = &limit_defs[i] };
    return LIMIT_COUNT;
}

static int set_session(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct repl_options *o = options;
    (void)row;
    if (!*value || strlen(value) > 60 ||
        value[strspn(value, "abcdefghijklmnopqrstuvwxyz_0123456789")])
        return err_set(e, ERR_USAGE, 0, "--session '%s' is no id: 'ses_...' is accepted",
                       QUOTED(value));
    o->session = value;
    o->keeps = true;
    return 0;
}

static int add_host(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    (void)row; /* the service checks it */
    return strv_add(&((struct repl_options *)options)->allow_net, value, e);
}

static int add_mount(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct repl_mounts *m = &((struct repl_options *)options)->mounts;
    return run_mount_read(row, value, &m->dirs, &m->names, e);
}

int repl_attach(const char *language, const char *session, const struct service_choice *service,
                struct err *e)
{
    struct repl_options o = { .service = *service };
    char *argv[] = { (char *)language, NULL };
    init(&o);
    return set_session(&o, NULL, session, e) ? -1 : repl(&o, 1, argv, e);
}

#define AT(member) offsetof(struct repl_options, member)
static const struct arg_row rows[] = {
    { "keep", .offset = AT(keeps), .help = "leave the session open at the end, for an hour" },
    { "session", "ID", .apply = set_session,
      .help = "go on in a session that was kept, and keep it again" },
    { "allow-net", "HOST[:PORT]", .repeats = true, .apply = add_host,
      .help = "a host that the session may reach by its name; repeat it for others" },
    { "mount", "DIR[:NAME]", .repeats = true, .apply = add_mount, .values.kind = VALUES_FILE,
      .help = "a directory that the session reads in /mnt; repeat it for others" },
    { "mount-secrets", .offset = AT(mounts.secrets),
      .help = "mounts show files that look like secrets, too" },
    { "local", .offset = AT(local), .help = "do not use a running service" },
    SERVICE_ROWS(struct repl_options, service),
};
#undef AT

const struct cli_command repl_command = {
    .name = "repl",
    .summary = "open a session at the terminal",
    .usage = (const char *const[]){ "[OPTION]... [LANG]", NULL },
    .description =
        "Starts a session of a language in a jar, and runs one cell after another in it. "
        "Variables live until the end of the session, which is the end of this command unless "
        "--keep is given. The jar belongs to the running service; without one, belljar starts a "
        "private service and ends it with the session. Without a terminal, cells are read from "
        "standard input.\n\n"
        "':help' lists the commands, 'NAME?' shows the documentation of a name, Tab "
        "completes a name, Ctrl-C interrupts a cell.\n\n"
        "--timeout, --cpu-time and --output limit each cell, the others limit the session.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .more_rows = limit_rows,
    .max_operands = 1,
    .values = { VALUES_WORDS, args_language_at },
    .statuses = (const char *const[]){ "0", "the session was ended", "1",
                                       "the session was refused, or ended by itself", "128+N",
                                       "signal N ended it", NULL },
    .examples = (const char *const[]){ "A session of Python:", "belljar repl",
                                       "A session of SQLite:", "belljar repl sqlite",
                                       "A session whose cells may take an hour:",
                                       "belljar repl --timeout 1h --memory 2g", NULL },
    .options_size = sizeof(struct repl_options),
    .init = init,
    .run = repl,
};
