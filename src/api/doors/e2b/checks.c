/* The rules for everything that a client gives to a sandbox beside cells (E2B-2): commands, input of
 * processes, and files. */
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/doors/e2b/e2b.h"
#include "api/runs/run_spec.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"

/* ---- the words of a command ---- */

static bool is_text(const json_t *v)
{
    return json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v);
}

static bool is_absent(const json_t *v)
{
    return !v || json_is_null(v);
}

static int refuse_type(const char *field, const char *accepted, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "%s of the command is not accepted: %s is", field,
                   accepted);
}

/* Exactly the types that the helper reads: a list that is an object there would have other words. */
static int check_types(const json_t *body, const json_t *process, struct err *e)
{
    const json_t *args = json_object_get(process, "args"), *envs = json_object_get(process, "envs");
    const json_t *cmd = json_object_get(process, "cmd"), *cwd = json_object_get(process, "cwd");
    const json_t *open = json_object_get(body, "stdin"), *pty = json_object_get(body, "pty"), *word;
    const char *name;
    size_t i;
    if (!json_is_object(process))
        return refuse_type("process", "an object with cmd and args", e);
    if (!is_absent(cmd) && !is_text(cmd))
        return refuse_type("process.cmd", "a text without NUL", e);
    if (!is_absent(cwd) && !is_text(cwd))
        return refuse_type("process.cwd", "a text without NUL", e);
    if (!is_absent(open) && !json_is_boolean(open))
        return refuse_type("stdin", "true or false", e);
    if (!is_absent(pty) && !json_is_object(pty))
        return refuse_type("pty", "an object with size", e);
    if (!is_absent(args) && !json_is_array(args))
        return refuse_type("process.args", "a list of texts", e);
    json_array_foreach(args, i, word)
        if (!is_text(word))
            return refuse_type("process.args", "a list of texts without NUL", e);
    if (!is_absent(envs) && !json_is_object(envs))
        return refuse_type("process.envs", "an object of texts", e);
    json_object_foreach((json_t *)envs, name, word)
        if (!is_text(word))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "the variable '%s' is not accepted: a text without NUL is",
                           QUOTED(name));
    return 0;
}

/* The line of `bash -c LINE` and `bash -l -c LINE`, the forms of the SDKs; NULL for every other form:
 * in `bash -c LINE -c OTHER` the last word is an argument. */
static const char *shell_line_of(const char *cmd, const json_t *args)
{
    size_t n = json_array_size(args);
    const char *first = json_string_value(json_array_get(args, 0));
    const char *flag = n >= 2 ? json_string_value(json_array_get(args, n - 2)) : NULL;
    if (strcmp(cmd, "/bin/bash") != 0 || !flag || strcmp(flag, "-c") != 0)
        return NULL;
    if (n != 2 && !(n == 3 && strcmp(first, "-l") == 0))
        return NULL;
    return json_string_value(json_array_get(args, n - 1));
}

/* As a shell would read it back: one word. */
static int add_quoted(struct buf *b, const char *word, struct err *e)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_@%+=:,./-";
    if (word[0] && word[strspn(word, plain)] == '\0')
        return buf_add(b, word, strlen(word), e);
    if (buf_add(b, "'", 1, e))
        return -1;
    for (; *word; word++)
        if (*word == '\'' ? buf_add(b, "'\\''", 4, e) : buf_add(b, word, 1, e))
            return -1;
    return buf_add(b, "'", 1, e);
}

static int add_words(struct buf *b, const char *cmd, const json_t *args, bool quoted, struct err *e)
{
    const json_t *word;
    size_t i;
    if (quoted ? add_quoted(b, cmd, e) : buf_add(b, cmd, strlen(cmd), e))
        return -1;
    json_array_foreach(args, i, word) {
        const char *text = json_string_value(word);
        if (buf_add(b, " ", 1, e) ||
            (quoted ? add_quoted(b, text, e) : buf_add(b, text, strlen(text), e)))
            return -1;
    }
    return 0;
}

int e2b_command_read(const json_t *body, struct e2b_command *ret, struct err *e)
{
    const json_t *process = json_object_get(body, "process");
    if (check_types(body, process, e))
        return -1;
    const json_t *args = json_object_get(process, "args");
    const char *cmd = json_string_value(json_object_get(process, "cmd"));
    const char *cwd = json_string_value(json_object_get(process, "cwd"));
    if (!cmd || !cmd[0]) /* as in the helper */
        cmd = "/bin/bash";
    const char *line = shell_line_of(cmd, args);
    scoped(buf) raw = { 0 };
    scoped(buf) shown = { 0 };
    if (cwd && cwd[0] &&
        (buf_add(&shown, "cd ", 3, e) || add_quoted(&shown, cwd, e) ||
         buf_add(&shown, " && ", 4, e)))
        return -1;
    if (line ? buf_add(&raw, line, strlen(line), e) || buf_add(&shown, line, strlen(line), e)
             : add_words(&raw, cmd, args, false, e) || add_words(&shown, cmd, args, true, e))
        return -1;
    if (cwd && cwd[0] && buf_addf(&raw, e, "\n%s", cwd))
        return -1;
    *ret = (struct e2b_command){ .raw = json_stringn(buf_str(&raw), raw.len),
                                 .shown = json_stringn(buf_str(&shown), shown.len) };
    return ret->raw && ret->shown ? 0 : err_no_memory(e, "a command");
}

void e2b_command_done(struct e2b_command *x)
{
    json_decref(x->raw);
    json_decref(x->shown);
}

/* ---- commands ---- */

static int admit(const struct api_call *c, const json_t *request, struct admission *ret,
                 struct err *e)
{
    scoped(run_spec) spec = { 0 };
    char field[128] = "";
    return run_spec_from_json(c->api, &c->who, request, "session", &spec, field, sizeof field, e) ||
                   approvals_admit(c->api, &spec, NULL, ret, e)
               ? -1
               : 0;
}

/* Rules that deny look at the words as they are, and as a shell would have them. A process gets input
 * that nobody has seen, unless its client says that there is none. */
int e2b_check_command(const struct api_call *c, const struct session *s, const json_t *body,
                      const struct e2b_command *x, struct err *e)
{
    struct admission admission;
    const json_t *env = json_object_get(json_object_get(body, "process"), "envs");
    json_auto_t *request = json_pack("{s:s, s:O, s:s}", "language", "bash", "code", x->raw,
                                     "thread_id", s->id);
    if (json_object_size(env) > 0)
        json_put(request, "env", json_deep_copy(env));
    /* a terminal is input, too */
    if (!json_is_false(json_object_get(body, "stdin")) || !is_absent(json_object_get(body, "pty")))
        json_put(request, "stdin_open", json_true());
    if (admit(c, request, &admission, e))
        return -1;
    if (admission.kind != ADMISSION_DENIED) {
        (void)json_object_set(request, "code", x->shown);
        if (admit(c, request, &admission, e))
            return -1;
    }
    if (admission.kind == ADMISSION_DENIED)
        return err_set(e, ERR_DENIED, 0, "the command is %s", admission.reason);
    if (admission.kind == ADMISSION_NEEDS_APPROVAL)
        return err_set(e, ERR_DENIED, 0,
                       "%s, and a command of a sandbox cannot wait for it: run it in a cell, with "
                       "runCode()",
                       admission.reason);
    return 0;
}

/* ---- input of processes, and files ---- */

static int session_spec_of(const struct api_call *c, const struct session *s, struct run_spec *ret,
                           struct err *e)
{
    char field[128] = "";
    json_auto_t *request = json_pack("{s:s}", "language", s->spec.language->name);
    if (run_spec_of_session(c->api, &c->who, request, ret, field, sizeof field, e))
        return -1;
    ret->thread = strdup(s->id);
    return ret->thread ? 0 : err_no_memory(e, "a request to a sandbox");
}

/* The pieces of an input could be compared with a rule only together, and here it is not known which
 * process gets a piece. So there is no input where a rule looks at it. */
int e2b_check_input(const struct api_call *c, const struct session *s, struct err *e)
{
    scoped(run_spec) spec = { 0 };
    char field[128] = "";
    json_auto_t *request = json_pack("{s:s, s:s, s:s}", "language", "bash", "code", "cat",
                                     "thread_id", s->id);
    if (run_spec_from_json(c->api, &c->who, request, "session", &spec, field, sizeof field, e))
        return -1;
    if (!approvals_look_inside(c->api, &spec))
        return 0;
    return err_set(e, ERR_DENIED, 0,
                   "a rule of this service denies texts, and input of a process cannot be compared "
                   "with it: write the input to a file, and start the command with '<FILE'");
}

/* The entries of the bundle are for the rules alone. A name that leads elsewhere is looked at as
 * content. */
int e2b_check_file(const struct api_call *c, const struct session *s, const char *names,
                   const struct buf *bytes, bool packed, struct err *e)
{
    struct admission admission;
    scoped(run_spec) run = { 0 };
    if (session_spec_of(c, s, &run, e) ||
        bundle_add(&run.bundle, "name", 0644, names, strlen(names), e))
        return -1;
    bool compares = bytes && bytes->len > 0 && approvals_look_inside(c->api, &run);
    if (compares && packed)
        return err_set(e, ERR_DENIED, 0,
                       "a rule of this service denies texts, and a compressed file cannot be "
                       "compared with it: send it without Content-Encoding");
    if ((compares && bundle_add(&run.bundle, "content", 0644, buf_str(bytes), bytes->len, e)) ||
        approvals_admit(c->api, &run, NULL, &admission, e))
        return -1;
    if (admission.kind == ADMISSION_DENIED)
        return err_set(e, ERR_DENIED, 0, "the file is %s", admission.reason);
    if (admission.kind == ADMISSION_NEEDS_APPROVAL)
        return err_set(e, ERR_DENIED, 0,
                       "%s, and a change of a file is shown to nobody: change it in a cell, with "
                       "runCode()",
                       admission.reason);
    return 0;
}
