#include "cli/run/stage_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "base/units.h"
#include "run/json.h"

enum { STAGES_FILE_MAX = 20 << 20, EXIT_STATUS_MAX = 255 };

static const char example[] = "[{\"name\": \"build\", \"command\": \"make\"}]";

bool stage_options_given(const struct run_arguments *o)
{
    return o->stages || o->stages_file;
}

/* ---- --stage ---- */

/* The bytes before the '=' of NAME=COMMAND; -1: the text is a command. */
static int name_length(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    size_t n = strspn(text, letters);
    return text[n] == '=' && text[0] != '-' ? (int)n : -1;
}

int stage_option_add(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *o = arguments;
    char number[32];
    int n = name_length(value);
    const char *command = n < 0 ? value : value + n + 1;
    if (n == 0)
        return err_set(e, ERR_USAGE, 0,
                       "--%s '%s' has no name before its '=': COMMAND or NAME=COMMAND is accepted, "
                       "such as build='make -j2'",
                       row->name, QUOTED(value));
    if (command[strspn(command, " \t\n")] == '\0')
        return err_set(e, ERR_USAGE, 0,
                       "--%s '%s' has no command: COMMAND or NAME=COMMAND is accepted, such as "
                       "build='make -j2'",
                       row->name, QUOTED(value));
    if (!text_is_utf8(command, strlen(command)))
        return err_set(e, ERR_USAGE, 0,
                       "--%s '%s' is not UTF-8: put its bytes into a script, and name that file on "
                       "the command line",
                       row->name, QUOTED(value));
    if (!o->stages)
        o->stages = json_array();
    (void)snprintf(number, sizeof number, "stage%zu", json_array_size(o->stages) + 1);
    json_t *name = n < 0 ? json_string(number) : json_stringn(value, (size_t)n);
    json_t *stage = json_pack("{s:o, s:s}", "name", name, "command", command);
    if (!stage || json_array_append_new(o->stages, stage))
        return err_no_memory(e, "the options");
    return 0;
}

/* ---- options of the stage before them ---- */

static json_t *last_stage(const struct run_arguments *o, const struct arg_row *row,
                          const char *value, struct err *e)
{
    size_t n = json_array_size(o->stages);
    if (n == 0)
        (void)!err_set(e, ERR_USAGE, 0,
                       "--%s '%s' is for the --stage before it, and there is none: write --stage "
                       "COMMAND --%s %s",
                       row->name, QUOTED(value), row->name, QUOTED(value));
    return n == 0 ? NULL : json_array_get(o->stages, n - 1);
}

int stage_option_expect(void *arguments, const struct arg_row *row, const char *value,
                        struct err *e)
{
    json_t *stage = last_stage(arguments, row, value, e);
    uint64_t status;
    if (!stage)
        return -1;
    if (unit_parse(UNIT_COUNT, value, &status) || status > EXIT_STATUS_MAX)
        return err_set(e, ERR_USAGE, 0,
                       "--%s '%s' is not an exit status: a whole number from 0 to %d is accepted",
                       row->name, QUOTED(value), EXIT_STATUS_MAX);
    json_put(stage, "expect_exit", json_integer((json_int_t)status));
    return 0;
}

int stage_option_limit(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    json_t *stage = last_stage(arguments, row, value, e);
    struct limits limits = limits_default();
    limit_set given = 0;
    if (!stage || run_limit_parse(row->name, value, &limits, &given, e))
        return -1;
    if (given & (LIMIT_BIT(LIMIT_DISK) | LIMIT_BIT(LIMIT_FILES)))
        return err_set(e, ERR_USAGE, 0,
                       "--%s '%s': this limit holds for all stages together; --%.*s gives it",
                       row->name, QUOTED(value), (int)strcspn(value, "="), value);
    if (!json_object_get(stage, "limits"))
        json_put(stage, "limits", json_object());
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (given & LIMIT_BIT(i))
            json_put(json_object_get(stage, "limits"), limit_defs[i].key,
                     json_integer((json_int_t)limits.v[i]));
    return 0;
}

/* ---- --stages ---- */

static int read_file(const char *path, struct buf *ret, struct err *e)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(
            e, ERR_USAGE, errno,
            "--stages '%s' cannot be read: a JSON file with a list of stages is accepted",
            QUOTED(path));
    struct err why;
    if (fd_read_to_buf(fd, STAGES_FILE_MAX, ret, &why))
        return err_set(e, ERR_USAGE, 0,
                       "--stages '%s' cannot be read (%.60s): a JSON file with a list of stages is "
                       "accepted",
                       QUOTED(path), why.text);
    return 0;
}

static int load_file(struct run_arguments *o, struct err *e)
{
    const char *path = o->stages_file;
    scoped(buf) text = { 0 };
    json_error_t where;
    if (o->stages)
        return err_set(e, ERR_USAGE, 0,
                       "--stages '%s' and --stage contradict each other: give the stages in one of "
                       "the two ways",
                       QUOTED(path));
    if (read_file(path, &text, e))
        return -1;
    json_t *list = json_loadb(buf_str(&text), text.len,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &where);
    o->stages = list;
    if (!list)
        return err_set(e, ERR_USAGE, 0, "--stages '%s' is no JSON: line %d: %.60s; %s is accepted",
                       QUOTED(path), where.line, where.text, example);
    if (!json_is_array(list) || json_array_size(list) == 0)
        return err_set(e, ERR_USAGE, 0, "--stages '%s' %s: a list such as %s is accepted",
                       QUOTED(path), json_is_array(list) ? "has no stage" : "is not a list",
                       example);
    return 0;
}

/* ---- options beside stages ---- */

static const char *option_of_one_program(const struct run_arguments *o)
{
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (run_option_is_given(&o->run_options, &run_option_defs[i]))
            return run_option_defs[i].option ? run_option_defs[i].option : "fix";
    return o->code       ? "code"
           : o->language ? "language"
           : o->template ? "template"
           : o->bench    ? "bench"
                         : NULL;
}

int stage_options_settle(struct run_arguments *o, struct err *e)
{
    const char *way = o->stages_file ? "--stages" : "--stage";
    const char *other = option_of_one_program(o);
    if (other)
        return err_set(e, ERR_USAGE, 0,
                       "--%s and %s cannot be used together: --%s is for a run with one program, "
                       "and each stage has its own",
                       other, way, other);
    if (o->level == LEVEL_PROCESS)
        return err_set(e, ERR_USAGE, 0,
                       "--isolation process and %s cannot be used together: stages share one jar, "
                       "which needs level jar or rootless; leave --isolation out, or run one "
                       "program after the other",
                       way);
    return o->stages_file ? load_file(o, e) : 0;
}
