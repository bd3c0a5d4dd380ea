/* guests/session/bash.c — guest-bash: the program of a bash session. Runs in: a jar.
 *
 * Theory of operation. One bash lives as long as the session. Its script is a pipe, on which this
 * program writes one line for each cell: `. /dev/fd/N`, where N is a nameless file with the text of
 * the cell, and then a function that reports the status on another pipe. So a cell runs at the top
 * level of the shell: variables, functions, options and the working directory stay, and no loop of
 * ours is there that `break` could end. The functions are in guests/session/bash_loop.sh.
 *
 * SIGINT goes to the process group of bash, and again until the cell is over. Background jobs
 * ignore it, as in every shell without job control. bash itself traps it and leaves the cell, command
 * by command. The last SIGINT may reach the shell after it has reported the status, so an
 * interrupted cell is followed by one more report: the shell has then seen every signal, and none is
 * left for the next cell. `exit` leaves the cell in the same way as a signal. If the shell ends
 * nevertheless (set -e, exec), a new one begins. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "guests/session/bash_image.h"
#include "guests/session/channel.h"
#include "guests/session/descriptors.h"
#include "guests/session/images.h"
#include "guests/sql/cell.h"

enum { ANSWER_MAX = 1 << 20 };

struct bash_session {
    struct channel channel;
    pid_t pid; /* of bash; 0: none */
    int script, cell, status;
    int last;               /* exit status of the last cell */
    unsigned report;        /* number of the last one that was asked for */
    char library[PATH_MAX]; /* that is preloaded into bash; empty: none */
    struct process_relative processes[1 + BASH_WRITERS_MAX]; /* bash, and writers of its images */
    unsigned writers;                                        /* so far */
};

static atomic_int group; /* of bash while a cell is open, otherwise 0 */
static atomic_bool was_interrupted;

static const char loop_text[] =
#include "guests/bash_loop.sh.inc"
    ;

/* SIGINT, and SIGURG: the cell is still to be interrupted (jar/cell.c). */
static void on_signal(int sig)
{
    int saved = errno;
    pid_t g = atomic_load(&group);
    if (g > 0 && (sig == SIGINT || !atomic_load(&was_interrupted))) {
        atomic_store(&was_interrupted, true);
        (void)kill(-g, SIGINT);
    }
    errno = saved;
}

/* ---- the shell ---- */

/* In front of the session's own preloaded libraries. */
static void preload(const char *library)
{
    char value[2 * PATH_MAX];
    const char *more = getenv("LD_PRELOAD");
    int n = snprintf(value, sizeof value, "%s%s%s", library, more && *more ? ":" : "",
                     more ? more : "");
    if (n > 0 && (size_t)n < sizeof value)
        (void)setenv("LD_PRELOAD", value, 1);
}

static void find_library(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 64);
    char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
    if (slash)
        memcpy(slash + 1, BASH_IMAGE_LIBRARY, sizeof BASH_IMAGE_LIBRARY);
    autoclose int fd = slash ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        path[0] = '\0';
}

static _Noreturn void become_bash(pid_t parent, const char *library, int script, int cell,
                                  int status)
{
    (void)setpgid(0, 0);
    /* The end of its script ends it, but not while a cell runs. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGURG, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (dup2(script, BASH_SCRIPT_FD) < 0 || dup2(cell, BASH_CELL_FD) < 0 ||
        dup2(status, BASH_STATUS_FD) < 0)
        _exit(126);
    if (library[0])
        preload(library);
    (void)execl("/bin/bash", "bash", "--norc", "--noprofile", "/dev/fd/60", NULL);
    _exit(127);
}

static int start_bash(struct bash_session *s)
{
    int script[2], status[2];
    /* A socket, because descriptors for images go the other way (bash_image.c). */
    if (pipe2(script, O_CLOEXEC) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, status) < 0)
        return -1;
    fd_close(&s->script);
    fd_close(&s->status);
    pid_t us = getpid(), pid = fork();
    if (pid == 0)
        become_bash(us, s->library, script[0], s->cell, status[1]);
    close(script[0]);
    close(status[1]);
    s->script = script[1];
    s->status = status[0];
    s->pid = pid;
    s->last = 0;
    if (pid < 0)
        return -1;
    (void)setpgid(pid, pid);
    return fd_write_all(s->script, loop_text, sizeof loop_text - 1);
}

static const char *words_of_end(int status, char *out, size_t n)
{
    if (WIFSIGNALED(status))
        (void)snprintf(out, n,
                       "the shell was killed by signal %d and a new one began: variables and the "
                       "working directory are lost",
                       WTERMSIG(status));
    else
        (void)snprintf(out, n,
                       "the shell ended with status %d and a new one began: variables and the "
                       "working directory are lost",
                       WEXITSTATUS(status));
    return out;
}

/* The shell has ended or closed its pipe. Starts a new one. Returns its status. */
static int replace_bash(struct bash_session *s, uint32_t request)
{
    int status = 0;
    char words[160];
    (void)kill(s->pid, SIGKILL); /* it may live on without its pipe, after `exec 62>&-` */
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR) {
    }
    channel_note(&s->channel, request, words_of_end(status, words, sizeof words));
    if (start_bash(s))
        exit(1);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

/* Asks for a report. Every report has a number, because the shell may drop the line that asks for it
 * if a signal comes as it reads that line. settles: the shell also forgets that it leaves a cell. */
static int ask_report(struct bash_session *s, bool settles)
{
    char line[96];
    int n = snprintf(line, sizeof line, "{ %s__belljar_end $? %u; } 2>/dev/null\n",
                     settles ? "__belljar_left=130; " : "", ++s->report);
    return fd_write_all(s->script, line, (size_t)n);
}

/* The report at the end of the bytes: \037, the status, a space, the number, NUL. */
static bool ends_with_report(const struct bash_session *s, const char *bytes, size_t n)
{
    const char *mark = n > 0 && bytes[n - 1] == '\0' ? memrchr(bytes, '\x1f', n) : NULL;
    const char *number = mark ? strchr(mark, ' ') : NULL;
    return number && strtoul(number, NULL, 10) == s->report;
}

/* After 50 ms without a report. An interrupted shell gets the signal again: a child that was not yet
 * the program may have lost it. Now and then it is asked for its report again. */
static int nudge(struct bash_session *s, unsigned ticks, bool settles)
{
    enum { ASK_EVERY = 5, ASK_UNTIL = 500 };
    if (!atomic_load(&was_interrupted))
        return 0;
    if (ticks % ASK_EVERY == 0 && ticks < ASK_UNTIL)
        return ask_report(s, settles);
    if (atomic_load(&group) > 0)
        (void)kill(-s->pid, SIGINT);
    return 0;
}

/* Asks for a report, and reads everything up to it. -1 if the shell ended before. Background jobs hold
 * the pipe open, so that its end says nothing about the shell. */
static int read_report(struct bash_session *s, bool settles, struct buf *out)
{
    enum { LOOK_MS = 50, TAIL = 64 };
    struct err e;
    char bytes[TAIL + 4096];
    size_t tail = 0; /* bytes of earlier reads, because a report may come in two pieces */
    unsigned ticks = 0;
    if (ask_report(s, settles))
        return -1;
    for (;;) {
        struct pollfd p = { .fd = s->status, .events = POLLIN };
        int ready = poll(&p, 1, LOOK_MS);
        if (ready <= 0 && !has_ended(s->pid)) {
            if (nudge(s, ++ticks, settles))
                return -1;
            continue;
        }
        ssize_t n = ready > 0 ? read(s->status, bytes + tail, sizeof bytes - TAIL) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        size_t all = tail + (size_t)n, room = ANSWER_MAX - out->len;
        if (buf_add(out, bytes + tail, (size_t)n < room ? (size_t)n : room, &e))
            return -1;
        if (ends_with_report(s, bytes, all))
            return 0;
        tail = all < TAIL ? all : TAIL;
        memmove(bytes, bytes + all - tail, tail);
    }
}

/* Runs a line, until an interrupt. Reads the text that it prints on the status pipe, and its status.
 */
static int ask(struct bash_session *s, const char *line, struct buf *ret_text, int *ret_status)
{
    atomic_store(&was_interrupted, false);
    atomic_store(&group, (int)s->pid);
    int failed = fd_write_all(s->script, line, strlen(line)) || read_report(s, false, ret_text) ? -1
                                                                                                : 0;
    atomic_store(&group, 0);
    if (!failed && atomic_load(&was_interrupted)) {
        scoped(buf) settled = { 0 };
        failed = read_report(s, true, &settled);
    }
    char *mark = ret_text->len ? memchr(ret_text->data, '\x1f', ret_text->len) : NULL;
    *ret_status = mark ? (int)strtol(mark + 1, NULL, 10) : 0;
    if (mark) {
        *mark = '\0';
        ret_text->len = (size_t)(mark - ret_text->data);
    }
    return failed;
}

/* A question of ours. An interrupt leaves the rest of the answer out. */
static void ask_shell(struct bash_session *s, uint32_t request, const char *line,
                      struct buf *ret_text)
{
    int unused;
    if (ask(s, line, ret_text, &unused))
        (void)replace_bash(s, request);
}

/* ---- cells ---- */

static int put_cell(struct bash_session *s, const char *code, size_t n)
{
    return ftruncate(s->cell, 0) < 0 || lseek(s->cell, 0, SEEK_SET) < 0 ||
                   fd_write_all(s->cell, code, n) || lseek(s->cell, 0, SEEK_SET) < 0
               ? -1
               : 0;
}

/* The exit status of the cell. The status of the one before is `$?` in it. */
static int run_cell(struct bash_session *s, uint32_t request, const char *code, size_t n)
{
    char line[96];
    scoped(buf) answer = { 0 };
    (void)snprintf(line, sizeof line, "__belljar_last %d || . /dev/fd/61\n", s->last);
    if (put_cell(s, code, n))
        exit(1);
    /* after the shell's own: `. ` needs the status before it only if it is not 0 */
    int status, failed = ask(s, s->last ? line : strstr(line, ". /dev"), &answer, &status);
    if (failed)
        return replace_bash(s, request);
    s->last = status;
    return status;
}

static void on_exec(void *context, const struct message *m)
{
    struct bash_session *s = context;
    size_t n = 0;
    char number[16];
    autofree char *code = message_text(m, TAG_CODE, &n);
    if (!message_has_flag(m, "silent"))
        s->channel.count++;
    int status = run_cell(s, m->request, code ? code : "", n);
    if (atomic_load(&was_interrupted)) {
        channel_error(&s->channel, m->request, "KeyboardInterrupt", "the cell was interrupted",
                      "KeyboardInterrupt: the cell was interrupted");
        channel_done(&s->channel, m->request, "interrupted");
        return;
    }
    (void)snprintf(number, sizeof number, "%d", status);
    if (status != 0)
        channel_error(&s->channel, m->request, "exit status", number, number);
    channel_done(&s->channel, m->request, status == 0 ? "ok" : "error");
}

/* ---- names ---- */

/* A word that may stand in a line of commands as it is. */
static bool is_plain(const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+~:@%",
                    word[i]) ||
            word[i] == '\0')
            return false;
    return true;
}

static void on_complete(void *context, const struct message *m)
{
    struct bash_session *s = context;
    size_t n = 0;
    struct err e;
    char line[512];
    scoped(buf) answer = { 0 };
    scoped(buf) json = { 0 };
    autofree char *code = message_text(m, TAG_CODE, &n);
    const char *text = code ? code : "";
    size_t end = message_cursor(m, text, code ? n : 0), start = end;
    while (start > 0 && !strchr(" \t\n;|&()<>'\"`=${}", text[start - 1]))
        start--;
    bool variable = start > 0 && (text[start - 1] == '$' || text[start - 1] == '{');
    size_t before = start;
    while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t'))
        before--;
    bool first = before == 0 || strchr("\n;|&(`", text[before - 1]);
    const char *kind = variable                                           ? "-v"
                       : first && !memchr(text + start, '/', end - start) ? "-c"
                                                                          : "-f";
    if (end - start < 256 && is_plain(text + start, end - start)) {
        (void)snprintf(line, sizeof line, "{ __belljar_names %s '%.*s'; } 2>/dev/null\n", kind,
                       (int)(end - start), text + start);
        ask_shell(s, m->request, line, &answer);
    }
    int failed = buf_addf(&json, &e, "{\"matches\":[");
    char *rest = NULL;
    bool some = false;
    for (char *w = answer.data ? strtok_r(answer.data, "\n", &rest) : NULL; w && !failed;
         w = strtok_r(NULL, "\n", &rest), some = true)
        failed = buf_addf(&json, &e, "%s{\"text\":", some ? "," : "") ||
                 cell_add_json_text(&json, w, strlen(w), &e) || buf_addf(&json, &e, "}");
    if (!failed && !buf_addf(&json, &e, "],\"from\":%zu,\"to\":%zu}", text_characters(text, start),
                             text_characters(text, end)))
        channel_answer(&s->channel, m->request, &json);
}

static void on_inspect(void *context, const struct message *m)
{
    struct bash_session *s = context;
    size_t n = 0;
    struct err e;
    char line[512];
    scoped(buf) answer = { 0 };
    scoped(buf) json = { 0 };
    autofree char *code = message_text(m, TAG_CODE, &n);
    const char *text = code ? code : "";
    const char *ends = " \t\n;|&()<>'\"`=${}[]";
    size_t end = message_cursor(m, text, code ? n : 0), start = end;
    while (start > 0 && !strchr(ends, text[start - 1]))
        start--;
    while (text[end] != '\0' && !strchr(ends, text[end]))
        end++;
    if (end > start && end - start < 256 && is_plain(text + start, end - start)) {
        (void)snprintf(line, sizeof line, "{ __belljar_about '%.*s'; } 2>/dev/null\n",
                       (int)(end - start), text + start);
        ask_shell(s, m->request, line, &answer);
    }
    if (!buf_addf(&json, &e, "{\"found\":%s,\"text\":", answer.len ? "true" : "false") &&
        !cell_add_json_text(&json, buf_str(&answer), answer.len, &e) && !buf_addf(&json, &e, "}"))
        channel_answer(&s->channel, m->request, &json);
}

/* One variable as `declare -p` prints it: declare -a name=(...). */
static int add_variable(struct buf *json, const char *line, bool some, struct err *e)
{
    const char *flags = strchr(line, ' ');
    const char *name = flags ? strchr(flags + 1, ' ') : NULL;
    if (!name)
        return 0;
    const char *equals = strchr(++name, '=');
    size_t n_name = equals ? (size_t)(equals - name) : strlen(name);
    const char *value = equals ? equals + 1 : "";
    const char *type = memchr(flags, 'A', (size_t)(name - flags))   ? "associative array"
                       : memchr(flags, 'a', (size_t)(name - flags)) ? "array"
                       : memchr(flags, 'i', (size_t)(name - flags)) ? "integer"
                                                                    : "string";
    enum { PREVIEW = 120 };
    size_t n = strlen(value);
    n -= n > 0 && value[n - 1] == '\n';
    while (n > PREVIEW && ((unsigned char)value[PREVIEW] & 0xc0) == 0x80)
        n--;
    return buf_addf(json, e, "%s{\"name\":", some ? "," : "") ||
           cell_add_json_text(json, name, n_name, e) ||
           buf_addf(json, e, ",\"type\":\"%s\",\"preview\":", type) ||
           cell_add_json_text(json, value, n < PREVIEW ? n : PREVIEW, e) || buf_addf(json, e, "}");
}

static void on_variables(void *context, const struct message *m)
{
    struct bash_session *s = context;
    struct err e;
    scoped(buf) answer = { 0 };
    scoped(buf) json = { 0 };
    ask_shell(s, m->request, "{ __belljar_variables; } 2>/dev/null\n", &answer);
    int failed = buf_addf(&json, &e, "{\"variables\":[");
    bool some = false;
    for (char *at = answer.data; at && at < answer.data + answer.len && !failed;) {
        char *end = memchr(at, '\x1e', (size_t)(answer.data + answer.len - at));
        if (!end)
            break;
        *end = '\0';
        failed = add_variable(&json, at, some, &e);
        some = true;
        at = end + 1;
    }
    if (!failed &&
        !buf_addf(&json, &e, "],\"cut\":%s}", answer.len >= ANSWER_MAX ? "true" : "false"))
        channel_answer(&s->channel, m->request, &json);
}

/* ---- images ---- */

/* Sends a request to the library in bash (bash_image.c), and reads its answer up to the NUL. */
static int request(struct bash_session *s, const char *line, const int *fds, size_t n_fds,
                   struct buf *ret, char why[IMAGE_WHY])
{
    enum { LOOK_MS = 50 };
    struct err e;
    char c = 0;
    struct iovec byte = { &c, 1 }; /* descriptors come with a byte */
    if (!s->library[0])
        return image_refuse(why, "this session cannot write images: %s is missing",
                            BASH_IMAGE_LIBRARY);
    if ((n_fds > 0 && fd_send(s->status, &byte, 1, fds, n_fds, 0) != 1) ||
        fd_write_all(s->script, line, strlen(line)))
        return image_refuse(why, "the shell does not read its script");
    for (;;) {
        struct pollfd p = { .fd = s->status, .events = POLLIN };
        int ready = poll(&p, 1, LOOK_MS);
        if (ready <= 0 && !has_ended(s->pid))
            continue;
        if (ready <= 0 || read(s->status, &c, 1) != 1)
            return image_refuse(why, "the shell ended");
        if (c == '\0')
            return 0;
        if (ret->len < ANSWER_MAX && buf_add(ret, &c, 1, &e))
            return image_refuse(why, "there is no memory for its answer");
    }
}

/* The rest of an answer that begins with the word; NULL with why otherwise. */
static const char *answered(const struct buf *answer, const char *word, char why[IMAGE_WHY])
{
    const char *text = buf_str(answer), *rest = strchr(text, ' ');
    if (rest && strncmp(text, word, (size_t)(rest - text)) == 0 &&
        strlen(word) == (size_t)(rest - text))
        return rest + 1;
    (void)image_refuse(why, "%s", rest ? rest + 1 : "the shell gave no answer");
    return NULL;
}

static int look_at_shell(void *context, const struct message *m, struct image_losses *losses,
                         char why[IMAGE_WHY])
{
    struct bash_session *s = context;
    (void)m;
    scoped(buf) answer = { 0 };
    char *rest = NULL;
    s->processes[0] = (struct process_relative){ .pid = s->pid };
    if (request(s, "\x01look\n", NULL, 0, &answer, why))
        return -1;
    for (char *name = answer.data ? strtok_r(answer.data, "\n", &rest) : NULL; name;
         name = strtok_r(NULL, "\n", &rest))
        losses->add(losses, name);
    tell_other_processes(s->processes, ARRAY_LEN(s->processes), losses);
    return 0;
}

static enum image_outcome write_shell(void *context, const struct image_target *t,
                                      char why[IMAGE_WHY])
{
    struct bash_session *s = context;
    scoped(buf) answer = { 0 };
    char line[128];

    (void)snprintf(line, sizeof line, "%cwrite %u %llu %llu %d %u\n", BASH_REQUEST, t->bases.used,
                   (unsigned long long)t->at, (unsigned long long)t->room, s->last,
                   s->channel.count);
    if (request(s, line, t->fds, t->n_fds, &answer, why))
        return IMAGE_FAILED;
    const char *writer = answered(&answer, "ok", why);
    if (!writer)
        return IMAGE_FAILED;
    s->processes[1 + s->writers++ % BASH_WRITERS_MAX].pid = (pid_t)strtol(writer, NULL, 10);
    return IMAGE_WRITTEN;
}

static int become_shell(void *context, int fd, const struct image_bases *bases, char why[IMAGE_WHY])
{
    struct bash_session *s = context;
    int fds[1 + IMAGE_BASES_MAX] = { fd };
    memcpy(fds + 1, bases->fds, sizeof bases->fds);
    scoped(buf) answer = { 0 };
    if (request(s,
                "\x01"
                "become\n",
                fds, 1 + bases->n, &answer, why))
        return -1;
    const char *state = answered(&answer, "became", why);
    if (!state || sscanf(state, "%d %u", &s->last, &s->channel.count) != 2)
        return state ? image_refuse(why, "the image has no status of its last cell") : -1;
    return 0;
}

static const struct image_ops images = {
    .version = "bash", .look = look_at_shell, .write = write_shell, .become = become_shell
};

static void on_image(void *context, const struct message *m)
{
    struct bash_session *s = context;
    images_on_write(&s->channel, m, &images, s);
}

static void on_become(void *context, const struct message *m)
{
    struct bash_session *s = context;
    images_on_become(&s->channel, m, &images, s);
}

/* ---- the program ---- */

int main(void)
{
    static const struct channel_handler handlers[] = {
        { FRAME_EXEC, on_exec },       { FRAME_COMPLETE, on_complete },
        { FRAME_INSPECT, on_inspect }, { FRAME_VARIABLES, on_variables },
        { FRAME_IMAGE, on_image },     { FRAME_BECOME, on_become },
    };
    struct bash_session s = { .script = -1, .status = -1 };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    scoped(buf) ready = { 0 };
    find_library(s.library);
    s.cell = memfd_create("cell", MFD_CLOEXEC);
    if (channel_open(&s.channel) || s.cell < 0 || sigaction(SIGINT, &action, NULL) < 0 ||
        sigaction(SIGURG, &action, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
        start_bash(&s)) {
        (void)fprintf(stderr, "error: the session cannot start: %s\n", strerror(errno));
        return 1;
    }
    field_add_text(&ready, TAG_VERSION, "bash");
    channel_send(&s.channel, 0, FRAME_READY, &ready);
    return channel_serve(&s.channel, handlers, ARRAY_LEN(handlers), &s);
}
