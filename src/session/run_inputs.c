/* The inputs of a run from a template, whose program has started already: its files are written by
 * clerks, and a few lines in its language set the arguments, the environment and stdin. These lines
 * run with the rights of the guest and prove nothing; if they fail, the run does not begin. */
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

/* ---- the lines ---- */

static const char python_lines[] =
    "import builtins, io, os, sys\n"
    "sys.argv[:] = given['args']\n"
    "os.environ.update(given['env'])\n"
    "for name in given['executable']: os.chmod('/sandbox/' + name, 0o755)\n"
    "if given['stdin']:\n"
    "    fd = os.open('" STDIN_PATH "', os.O_RDONLY)\n"
    "    os.unlink('" STDIN_PATH "'); os.dup2(fd, 0); os.close(fd)\n"
    "    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "
    "encoding='utf-8')\n"
    "    def input(prompt='', /):\n"
    "        print(prompt, end='', flush=True)\n"
    "        line = sys.stdin.readline()\n"
    "        if not line: raise EOFError('EOF when reading a line')\n"
    "        return line.removesuffix('\\n')\n"
    "    builtins.input = input\n";

/* A program of Node opens the lowest free descriptor. */
static const char node_lines[] =
    "process.argv.splice(1, process.argv.length, ...given.args);\n"
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
    size_t i;
    if (buf_addf(to, e, "builtin set --"))
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

static json_t *arguments_of(const struct run_spec *r)
{
    json_t *list = json_pack("[s]", r->main_name);
    for (char **a = r->args; a && *a; a++)
        (void)json_array_append_new(list, json_string(*a));
    return list;
}

static json_t *environment_of(const struct run_spec *r)
{
    json_t *o = json_object();
    for (char **v = r->env; v && *v; v++) {
        const char *equals = strchr(*v, '=');
        autofree char *name = equals ? strndup(*v, (size_t)(equals - *v)) : NULL;
        if (name)
            json_put(o, name, json_string(equals + 1));
    }
    return o;
}

static json_t *executables_of(const struct run_spec *r)
{
    json_t *list = json_array();
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(&r->bundle, &pos, &f, &more, &e) == 0 && more;)
        if (!bundle_is_directory(&f) && (f.head.mode & 0100) && !bundle_is_named(&f, r->main_name))
            (void)json_array_append_new(list, json_stringn(f.name, f.head.name_len));
    return list;
}

static int make_code(const struct run *run, struct buf *ret, struct err *e)
{
    const struct run_spec *r = &run->spec;
    json_auto_t *given = json_pack("{s:o, s:o, s:o, s:i}", "args", arguments_of(r), "env",
                                   environment_of(r), "executable", executables_of(r), "stdin",
                                   r->stdin_bytes.len > 0);
    if (!given)
        return err_no_memory(e, "the inputs of a run");
    if (strv_len(r->args) == 0 && strv_len(r->env) == 0 && r->stdin_bytes.len == 0 &&
        json_array_size(json_object_get(given, "executable")) == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        if (strcmp(writers[i].language, r->language->name) == 0)
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

int run_inputs_send(struct cell *c, struct err *e)
{
    scoped(buf) lines = { 0 }, fields = { 0 };
    struct session *s = c->session;
    if (s->for_one_run && make_code(c->run, &lines, e))
        return -1;
    if (lines.len == 0)
        return cell_send_code(c, e);
    c->sets_inputs = true;
    return frame_add_field(&fields, TAG_CODE, lines.data, lines.len, e) ||
                   frame_add_field(&fields, TAG_FLAGS, "silent", 6, e) ||
                   program_send(s->program, FRAME_EXEC, INPUTS_REQUEST, &fields, e)
               ? -1
               : 0;
}

int run_inputs_on_frame(struct cell *c, const struct session_frame *f, struct err *e)
{
    struct frame_message *m = &c->session->program->message;
    struct frame_field status;
    bool whole = false;
    if (frame_message_add(m, f, &whole, e))
        return -1;
    if (!whole || f->type != FRAME_DONE)
        return 0;
    c->sets_inputs = false;
    if (frame_find_field(&m->data, TAG_STATUS, &status) && status.n == 2 &&
        memcmp(status.bytes, "ok", 2) == 0)
        return cell_send_code(c, e);
    return err_set(e, ERR_PROTOCOL, 0,
                   "the state of the template did not take arguments, environment and stdin");
}

/* ---- the files ---- */

struct run_inputs {
    struct session_visit visit; /* first */
    struct session *session;
    size_t pos;
    bool has_stdin;
};

static void write_next(struct run_inputs *w);

static void end(struct run_inputs *w, const struct err *e)
{
    struct session *s = w->session;
    struct cell *c = s->first;
    buf_done(&w->visit.answer);
    free(w);
    if (s->state != SESSION_ENDED && c && e) {
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
    if (e || s->state == SESSION_ENDED || !s->first || !s->first->run || s->first->run->is_over)
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
    const struct run_spec *r = &w->session->first->run->spec;
    struct bundle_entry f;
    struct err e = { 0 };
    bool more = true;
    int rc = 0;
    while ((rc = bundle_next(&r->bundle, &w->pos, &f, &more, &e)) == 0 && more)
        if (!bundle_is_directory(&f) && !bundle_is_named(&f, r->main_name))
            break;
    if (rc == 0 && more) {
        rc = write_one(w, f.name, f.head.name_len, f.bytes, f.head.size, &e);
    } else if (rc == 0 && !w->has_stdin && r->stdin_bytes.len > 0 &&
               run_inputs_have_args(r->language)) {
        w->has_stdin = true;
        rc = write_one(w, STDIN_NAME, strlen(STDIN_NAME), r->stdin_bytes.data, r->stdin_bytes.len,
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
