#include "api/runs/stage_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "spec/bundle.h"

enum { STAGE_NAME_MAX = 40 };

const struct api_field stage_fields[] = {
    { "name", FIELD_STRING, .required = true, .min = 1, .max = STAGE_NAME_MAX,
      .help = "letters, digits, - and _; its file is NAME.sh, NAME.py, …" },
    { "command", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "commands of bash", .also = "run,cmd" },
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "of `code`; one without a compiler (GET /v1/languages)", .also = "lang" },
    { "code", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "a program, in place of `command`", .also = "source,script" },
    { "limits", FIELD_LIMITS,
      .help = "limits of this stage; the others are those of the run. disk and files hold for all "
              "stages together",
      .also = "timeout=limits.wall_ms,memory=limits.memory" },
    { "expect_exit", FIELD_INT, .min = 0, .max = 255,
      .help = "the exit status with which the next stage begins; 0 by default",
      .also = "expected_exit,expect_exit_code" },
    { 0 },
};

const json_t *stage_code(const json_t *stage)
{
    const json_t *command = json_object_get(stage, "command");
    return command ? command : json_object_get(stage, "code");
}

static int check_name(const struct run_spec *spec, size_t at, const char *name, struct err *e)
{
    static const char accepted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_-";
    if (name[strspn(name, accepted)] || name[0] == '-')
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "the name '%s' of a stage is refused: letters, digits, - and _ are accepted, "
            "and no - at its begin",
            QUOTED(name));
    for (size_t i = 0; i < at; i++)
        if (strcmp(spec->stages[i].name, name) == 0)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "two stages have the name '%s': choose another for one of them", name);
    return 0;
}

static int find_language(const json_t *value, const struct language **ret, const char **ret_part,
                         struct err *e)
{
    const char *command = json_string_value(json_object_get(value, "command"));
    const char *code = json_string_value(json_object_get(value, "code"));
    const char *named = json_string_value(json_object_get(value, "language"));
    *ret_part = "command";
    if (!command == !code)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       command ? "'command' and 'code' are both given: a stage is one of them"
                               : "'command' is missing: a stage is a 'command' of bash, or "
                                 "'language' and 'code'");
    *ret_part = "language";
    if (command ? named != NULL : named == NULL)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       command ? "'language' is for 'code': a command is bash"
                               : "'language' is missing: 'code' needs it, such as \"python\"");
    const struct language *l = language_find(command ? "bash" : named);
    if (!l)
        return language_refuse(command ? "bash" : named, e);
    if (l->compile)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is compiled, and a stage is one program: put the source into 'files', "
                       "and call the compiler in the 'command' of a stage",
                       l->name);
    *ret = l;
    return 0;
}

static int take_stage(struct run_spec *spec, const json_t *value, const char **ret_part,
                      struct err *e)
{
    struct caller_stage *s = &spec->stages[spec->n_stages];
    const char *name = json_string_value(json_object_get(value, "name"));
    const json_t *code = stage_code(value);
    char main_name[MAIN_NAME_SIZE];
    *ret_part = "name";
    if (check_name(spec, spec->n_stages, name, e) ||
        find_language(value, &s->language, ret_part, e))
        return -1;
    const char *usual = language_main_name(s->language, json_string_value(code),
                                           json_string_length(code), main_name);
    const char *ending = strrchr(usual, '.');
    s->expect_exit = (int)json_integer_value(json_object_get(value, "expect_exit"));
    s->name = strdup(name);
    if (!s->name || asprintf(&s->main_name, "%s%s", name, ending ? ending : "") < 0) {
        free(s->name);
        return err_no_memory(e, "a request");
    }
    spec->n_stages++;
    return 0;
}

int stages_from_json(const json_t *list, struct run_spec *spec, char *ret_field, size_t field_size,
                     struct err *e)
{
    const json_t *value;
    const char *part = "name";
    size_t i;
    spec->stages = calloc(json_array_size(list) + 1, sizeof *spec->stages);
    if (!spec->stages)
        return err_no_memory(e, "a request");
    json_array_foreach(list, i, value)
        if (take_stage(spec, value, &part, e)) {
            (void)snprintf(ret_field, field_size, "stages[%zu].%s", i, part);
            return -1;
        }
    return 0;
}

static int take_limits(const struct settings *settings, const json_t *value, struct run_spec *spec,
                       struct caller_stage *s, char *ret_field, size_t field_size, struct err *e)
{
    static const enum limit_id of_the_jar[] = { LIMIT_DISK, LIMIT_FILES };
    const json_t *given = json_object_get(value, "limits");
    for (size_t i = 0; i < sizeof of_the_jar / sizeof of_the_jar[0]; i++) {
        const char *key = limit_defs[of_the_jar[i]].key;
        if (!json_object_get(given, key))
            continue;
        (void)snprintf(ret_field, field_size, "limits.%s", key);
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s holds for all stages together: give it in the 'limits' of the run", key);
    }
    return api_limits(given, &spec->limits, &settings->limit_max, &s->limits, ret_field, field_size,
                      e);
}

int stages_take_limits(const struct settings *settings, const json_t *list, struct run_spec *spec,
                       char *ret_field, size_t field_size, struct err *e)
{
    struct limits largest = { 0 };
    for (size_t i = 0; i < spec->n_stages; i++) {
        char field[96] = "";
        if (take_limits(settings, json_array_get(list, i), spec, &spec->stages[i], field,
                        sizeof field, e)) {
            (void)snprintf(ret_field, field_size, "stages[%zu].%s", i, field);
            return -1;
        }
        for (int k = 0; k < LIMIT_COUNT; k++)
            if (spec->stages[i].limits.v[k] > largest.v[k])
                largest.v[k] = spec->stages[i].limits.v[k];
    }
    spec->limits = largest;
    return 0;
}

json_t *stages_to_json(const struct run_spec *spec)
{
    json_t *list = json_array();
    for (size_t i = 0; i < spec->n_stages; i++) {
        const struct caller_stage *s = &spec->stages[i];
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i, s:o}", "name", s->name,
                                                    "language", s->language->name, "file",
                                                    s->main_name, "expect_exit", s->expect_exit,
                                                    "limits", result_limits(&s->limits)));
    }
    return list;
}
