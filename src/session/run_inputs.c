/* The inputs of a run or a session from a template, whose program has started already: its files are
 * written by clerks, and a few lines in its language set the arguments, the environment and stdin. These
 * lines run with the rights of the guest and prove nothing; if they fail, the run or the session does not
 * begin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "session/templates.h"

#define STDIN_NAME ".belljar-stdin"
#define STDIN_PATH "/sandbox/" STDIN_NAME

/* Of a run, or of a session. */
struct inputs {
    const struct language *language;
    const struct buf *bundle, *stdin_bytes;
    const char *main_name; /* NULL: of a session, which has no arguments */
    char **args, **env;
};

static struct inputs inputs_of(const struct session *s)
{
    static const struct buf nothing;
    const struct session_spec *own = &s->spec;
    if (!s->for_one_run)
        return (struct inputs){ own->language, &own->bundle, &nothing, NULL, NULL, own->env };
    const struct run_spec *r = &s->first->run->spec;
    return (
        struct inputs){ r->language, &r->bundle, &r->stdin_bytes, r->main_name, r->args, r->env };
}

static bool is_input(const struct inputs *in, const struct bundle_entry *f)
{
    return !bundle_is_directory(f) && !(in->main_name && bundle_is_named(f, in->main_name));
}

/* ---- the lines ---- */

static const char python_lines[] =
    "import builtins, io, os, sys\n"
    "if given['args']: sys.argv[:] = given['args']\n"
    "os.environ.update(given['env'])\n"
    "for name in given['executable']: os.chmod('/sandbox/' + name, 0o755)\n"
    "if given['stdin']:\n"
    "    fd = os.open('" STDIN_PATH "', os.O_RDONLY)\n"
    "    os.unlink('" STDIN_PATH "'); os.dup2(fd, 0); os.close(fd)\n"
    "    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "
    "encoding='utf-8', errors='surrogateescape')\n" /* as in other runs */
    "    def input(prompt='', /):\n"
    "        print(prompt, end='', flush=True)\n"
    "        line = sys.stdin.readline()\n"
    "        if not line: raise EOFError('EOF when reading a line')\n"
    "        return line.removesuffix('\\n')\n"
    "    builtins.input = input\n";

/* A program of Node opens the lowest free descriptor. */
static const char node_lines[] =
    "if (given.args.length) process.argv.splice(1, process.argv.length, ...given.args);\n"
    "Object.assign(process.env, given.env);\n"
    "for (const name of given.executable) require('fs').chmodSync('/sandbox/' + name, 0o755);\n"
    "if (given.stdin) {\n"
    "  require('fs').closeSync(0); require('fs').openSync('" STDIN_PATH "', 'r');\n"
    "  require('fs').unlinkSync('" STDIN_PATH "');\n"
    "}\n";

static int add_python(struct buf *to, const json_t *given, struct err *e)
{
    autofree char *literal = json_dumps(given, JSON_COMPACT);
    json_auto_t *text = json_string(python_lines);
    autofree char *lines = json_dumps(text, JSON_ENCODE_ANY);
    return literal && lines ? buf_addf(to, e, "exec(%s, {'given': %s})", lines, literal)
                            : err_no_memory(e, "the inputs of a run");
}

static int add_node(struct buf *to, const json_t *given, struct err *e)
{
    autofree char *literal = json_dumps(given, JSON_COMPACT);
    return literal ? buf_addf(to, e, "{\nconst given = %s;\n%s}\nvoid 0", literal, node_lines)
                   : err_no_memory(e, "the inputs of a run");
}

static int add_quoted(struct buf *to, const char *text, struct err *e)
{
    if (buf_add(to, "'", 1, e))
        return -1;
    for (; *text; text++)
        if (*text == '\'' ? buf_add(to, "'\\''", 4, e) : buf_add(to, text, 1, e))
            return -1;
    return buf_add(to, "'", 1, e);
}

static int add_bash(struct buf *to, const json_t *given, struct err *e)
{
    const char *name;
    const json_t *v, *args = json_object_get(given, "args");
    bool has_args = json_array_size(args) > 0;
    size_t i;
    if (has_args && buf_addf(to, e, "builtin set --"))
        return -1;
    for (i = 1; i < json_array_size(args); i++)
        if (buf_add(to, " ", 1, e) || add_quoted(to, json_string_value(json_array_get(args, i)), e))
            return -1;
    json_object_foreach(json_object_get(given, "env"), name, v)
        if (buf_addf(to, e, "\nbuiltin export %s=", name) ||
            add_quoted(to, json_string_value(v), e))
            return -1;
    json_array_foreach(json_object_get(given, "executable"), i, v)
        if (buf_addf(to, e, "\ncommand chmod 755 /sandbox/") ||
            add_quoted(to, json_string_value(v), e))
            return -1;
    return json_integer_value(json_object_get(given, "stdin"))
               ? buf_addf(to, e, "\nexec <" STDIN_PATH "\ncommand rm " STDIN_PATH)
               : 0;
}

static int add_nothing(struct buf *to, const json_t *given, struct err *e)
{
    (void)to;
    (void)given;
    (void)e;
    return 0;
}

static const struct {
    const char *language;
    int (*add)(struct buf *to, const json_t *given, struct err *e);
} writers[] = {
    { "python", add_python }, { "javascript", add_node }, { "typescript", add_node },
    { "bash", add_bash },     { "sqlite", add_nothing },  { "postgres", add_nothing },
};

bool run_inputs_have_args(const struct language *l)
{
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        if (strcmp(writers[i].language, l->name) == 0)
            return writers[i].add != add_nothing;
    return false;
}

static json_t *arguments_of(const struct inputs *in)
{
    json_t *list = json_pack("[s]", in->main_name); /* the name of the program comes first */
    for (char **a = in->args; a && *a; a++)
        (void)json_array_append_new(list, json_string(*a));
    return list;
}

static json_t *environment_of(const struct inputs *in)
{
    json_t *o = json_object();
    for (char **v = in->env; v && *v; v++) {
        const char *equals = strchr(*v, '=');
        autofree char *name = equals ? strndup(*v, (size_t)(equals - *v)) : NULL;
        if (name)
            json_put(o, name, json_string(equals + 1));
    }
    return o;
}

static json_t *executables_of(const struct inputs *in)
{
    json_t *list = json_array();
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(in->bundle, &pos, &f, &more, &e) == 0 && more;)
        if ((f.head.mode & 0100) && is_input(in, &f))
            (void)json_array_append_new(list, json_stringn(f.name, f.head.name_len));
    return list;
}

static int make_code(const struct session *s, struct buf *ret, struct err *e)
{
    const struct inputs in = inputs_of(s);
    bool has_stdin = in.stdin_bytes->len > 0;
    json_auto_t *given = json_pack("{s:o, s:o, s:i}", "env", environment_of(&in), "executable",
                                   executables_of(&in), "stdin", has_stdin);
    if (!given)
        return err_no_memory(e, "the inputs of a run");
    json_put(given, "args", in.main_name ? arguments_of(&in) : json_array());
    if (strv_len(in.args) == 0 && strv_len(in.env) == 0 && !has_stdin &&
        json_array_size(json_object_get(given, "executable")) == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        if (strcmp(writers[i].language, in.language->name) == 0)
            return writers[i].add(ret, given, e);
    return 0;
}

/* ---- the tables of a database ---- */

bool run_shows_tables(const struct language *l)
{
    return l->session && !run_inputs_have_args(l);
}

/* A program of SQL prints its tables. */
void run_show_table(struct cell *c, const struct frame_message *m)
{
    static const char plain[] = "text/plain";
    struct frame_field f;
    bool is_plain = false;
    if (!c->session->for_one_run || !run_shows_tables(c->session->spec.language))
        return;
    for (size_t at = 0; frame_next_field(buf_str(&m->data), m->data.len, &at, &f) > 0;) {
        if (f.tag == TAG_MIME)
            is_plain = f.n == sizeof plain - 1 && memcmp(f.bytes, plain, f.n) == 0;
        if (f.tag != TAG_DATA || !is_plain)
            continue;
        cells_on_output(c->session, RUN_STDOUT, f.bytes, f.n);
        if (f.n == 0 || f.bytes[f.n - 1] != '\n')
            cells_on_output(c->session, RUN_STDOUT, "\n", 1);
        return;
    }
}

/* ---- the cell that runs them ---- */

static int send_lines(struct session *s, const struct buf *lines, struct err *e)
{
    scoped(buf) fields = { 0 };
    return frame_add_field(&fields, TAG_CODE, lines->data, lines->len, e) ||
                   frame_add_field(&fields, TAG_FLAGS, "silent", 6, e) ||
                   program_send(s->program, FRAME_EXEC, INPUTS_REQUEST, &fields, e)
               ? -1
               : 0;
}

int run_inputs_send(struct cell *c, struct err *e)
{
    scoped(buf) lines = { 0 };
    struct session *s = c->session;
    if (s->for_one_run && make_code(s, &lines, e))
        return -1;
    if (lines.len == 0)
        return cell_send_code(c, e);
    c->sets_inputs = true;
    return send_lines(s, &lines, e);
}

/* 1: the lines have run. 0: there is more to come. -1: they failed. */
static int lines_on_frame(struct session *s, const struct session_frame *f, struct err *e)
{
    struct frame_message *m = &s->program->message;
    struct frame_field status;
    bool whole = false;
    if (frame_message_add(m, f, &whole, e))
        return -1;
    if (!whole || f->type != FRAME_DONE)
        return 0;
    if (frame_find_field(&m->data, TAG_STATUS, &status) && status.n == 2 &&
        memcmp(status.bytes, "ok", 2) == 0)
        return 1;
    return err_set(e, ERR_PROTOCOL, 0,
                   "the state of the template did not take arguments, environment and stdin");
}

int run_inputs_on_frame(struct cell *c, const struct session_frame *f, struct err *e)
{
    int rc = lines_on_frame(c->session, f, e);
    if (rc <= 0)
        return rc;
    c->sets_inputs = false;
    return cell_send_code(c, e);
}

/* ---- the files ---- */

struct run_inputs {
    struct session_visit visit; /* first */
    struct session *session;
    size_t pos;
    bool has_stdin;
};

static void write_next(struct run_inputs *w);
static void session_files_written(struct session *s, const struct err *e);

static void end(struct run_inputs *w, const struct err *e)
{
    struct session *s = w->session;
    struct cell *c = s->first;
    buf_done(&w->visit.answer);
    free(w);
    if (s->spec.sets_inputs) {
        session_files_written(s, e);
    } else if (s->state != SESSION_ENDED && c && e) {
        struct wire_ended lost = { .evidence.reason = END_FAILURE, .err = *e };
        cells_lose(s, &lost, ERR_SHOWN(e));
    } else if (s->state != SESSION_ENDED && c) {
        c->inputs = INPUTS_WRITTEN;
        cells_advance(s);
    }
    session_unref(s);
}

static void on_written(struct session_visit *v, const struct err *e)
{
    struct run_inputs *w = (struct run_inputs *)v;
    struct session *s = w->session;
    buf_done(&v->answer);
    v->answer = (struct buf){ 0 };
    bool is_run_over = !s->first || !s->first->run || s->first->run->is_over;
    if (e || s->state == SESSION_ENDED || (s->for_one_run && is_run_over))
        end(w, e);
    else
        write_next(w);
}

static int write_one(struct run_inputs *w, const char *name, size_t name_len, const void *bytes,
                     size_t n, struct err *e)
{
    char path[BUNDLE_NAME_MAX + 1];
    scoped(buf) content = { 0 };
    (void)snprintf(path, sizeof path, "%.*s", (int)name_len, name);
    w->visit = (struct session_visit){ .on_done = on_written };
    return (n > 0 && buf_add(&content, bytes, n, e)) ||
                   session_visit(w->session, &w->visit, LIVE_WRITE, path, &content, e)
               ? -1
               : 0;
}

static void write_next(struct run_inputs *w)
{
    const struct inputs in = inputs_of(w->session);
    struct bundle_entry f;
    struct err e = { 0 };
    bool more = true;
    int rc = 0;
    while ((rc = bundle_next(in.bundle, &w->pos, &f, &more, &e)) == 0 && more)
        if (is_input(&in, &f))
            break;
    if (rc == 0 && more) {
        rc = write_one(w, f.name, f.head.name_len, f.bytes, f.head.size, &e);
    } else if (rc == 0 && !w->has_stdin && in.stdin_bytes->len > 0 &&
               run_inputs_have_args(in.language)) {
        w->has_stdin = true;
        rc = write_one(w, STDIN_NAME, strlen(STDIN_NAME), in.stdin_bytes->data, in.stdin_bytes->len,
                       &e);
    } else if (rc == 0) {
        end(w, NULL);
        return;
    }
    if (rc)
        end(w, &e);
}

bool run_inputs_delay_cell(struct cell *c)
{
    struct session *s = c->session;
    if (!s->for_one_run || c->inputs == INPUTS_WRITTEN)
        return false;
    if (c->inputs == INPUTS_BEING_WRITTEN)
        return true;
    struct run_inputs *w = calloc(1, sizeof *w);
    struct err e = { 0 };
    c->inputs = INPUTS_BEING_WRITTEN;
    s->refs++;
    if (!w) {
        struct wire_ended lost = { .evidence.reason = END_FAILURE };
        (void)!err_no_memory(&e, "the inputs of a run");
        cells_lose(s, &lost, ERR_SHOWN(&e));
        session_unref(s);
        return true;
    }
    w->session = s;
    write_next(w); /* it may have begun within this call */
    return true;
}

/* ---- a session ---- */

static void fail_session(struct session *s, const struct err *e)
{
    char why[ERR_TEXT_MAX];
    s->spec.sets_inputs = false;
    (void)snprintf(why, sizeof why, "its files and environment could not be set: %.160s",
                   ERR_SHOWN(e));
    if (s->sleep)
        session_sleep_give_up(s, why);
    else
        session_end(s, why);
}

static void inputs_done(struct session *s)
{
    s->spec.sets_inputs = false;
    session_on_ready(s);
}

static void session_files_written(struct session *s, const struct err *e)
{
    scoped(buf) lines = { 0 };
    struct err failed = { 0 };
    if (s->state != SESSION_STARTING || !s->program)
        return;
    if (!e && (make_code(s, &lines, &failed) || (lines.len > 0 && send_lines(s, &lines, &failed))))
        e = &failed;
    if (e)
        fail_session(s, e);
    else if (lines.len == 0)
        inputs_done(s);
}

void session_inputs_begin(struct session *s)
{
    struct run_inputs *w = calloc(1, sizeof *w);
    struct err e = { 0 };
    if (!w) {
        (void)!err_no_memory(&e, "the inputs of a session");
        fail_session(s, &e);
        return;
    }
    s->refs++;
    w->session = s;
    write_next(w);
}

int session_inputs_on_frame(struct session *s, const struct session_frame *f, struct err *e)
{
    int rc = lines_on_frame(s, f, e);
    if (rc > 0)
        inputs_done(s);
    return rc < 0 ? -1 : 0;
}
