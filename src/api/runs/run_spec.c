#include "api/runs/run_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allowlist/allowlist.h"
#include "api/kernel/core.h"
#include "api/kernel/fields.h"
#include "api/runs/mount_request.h"
#include "api/runs/network_request.h"
#include "api/runs/stage_request.h"
#include "api/templates/template_use.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "normalise/normalise.h"
#include "run/command_line.h"
#include "run/stages.h"
#include "spec/bundle.h"
#include "spec/mount.h"
#include "spec/permission.h"

/* A row for each of spec/run_options.h. */
#define FIELD_OF_BOOL   FIELD_BOOL
#define FIELD_OF_LIST   FIELD_STRINGS
#define FIELD_OF_CHOICE FIELD_STRING
#define FIELD_OF_LIMITS FIELD_LIMITS
#define OPTION_ROW(key, aliases, option, metavar, kind, member, words, max_, help_, example) \
    { key, FIELD_OF_##kind, .one_of = words, .max = max_, .help = help_, .also = aliases },

const struct api_field run_fields[] = {
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "name or alias (GET /v1/languages); inferred from file names and code if absent",
      .also = "lang,lang_id,language_id,runtime" },
    { "code", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the program; alternatively give files and entry",
      .also = "source,source_code,src,script,program,content,generated_code" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX,
      .help = "files beside the program in /sandbox, by name", .also = "file" },
    { "entry", FIELD_STRING, .min = 1, .max = BUNDLE_NAME_MAX,
      .help = "the name of the file that is the program",
      .also = "main,main_file,entrypoint,entry_point" },
    { "stdin", FIELD_DATA, .help = "the input of the program", .also = "input,std_input" },
    { "stdin_encoding", FIELD_STRING, .one_of = content_encodings,
      .help = "encoding of stdin; utf-8 by default" },
    { "stdin_open", FIELD_BOOL, .help = "more stdin follows by POST /v1/runs/{id}/stdin" },
    { "args", FIELD_STRINGS, .max = 1000, .help = "arguments of the program",
      .also = "argv,arguments" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment beyond the built-in one",
      .also = "environment,env_vars" },
    { "limits", FIELD_LIMITS, .help = "limits of the run",
      .also = "timeout=limits.wall_ms,timeout_ms=limits.wall_ms,time_limit=limits.wall_ms,"
              "cpu_time_limit=limits.cpu_ms,memory=limits.memory,memory_limit=limits.memory" },
    NETWORK_FIELD,
    MOUNTS_FIELD,
    { "stages", FIELD_OBJECTS, .fields = stage_fields, .max = CALLER_STAGES_MAX,
      .help = "programs that run one after the other in one jar, in place of code",
      .also = "steps" },
    { "template", FIELD_STRING, .min = 1, .max = 200,
      .help = "the program begins in this template (POST /v1/templates)" },
    { "strict_limits", FIELD_BOOL,
      .help = "refuse the run if this machine cannot enforce a limit that the request names" },
    { "read_only", FIELD_BOOL,
      .help = "false gives a writable root that is thrown away; true by default" },
    RUN_OPTION_TABLE(OPTION_ROW) /* each row ends with a comma */
    { "outputs", FIELD_STRINGS, .max = JAR_RUN_OUTPUTS_MAX,
      .help = "names of files to fetch from /sandbox, or absolute names below /tmp; \".\" is every "
              "file in /sandbox" },
    SUBMISSION_FIELDS /* each row ends with a comma */
    { 0 },
};

bool run_flag(const json_t *request, const char *key, bool otherwise)
{
    const json_t *v = json_object_get(request, key);
    return v ? json_is_true(v) : otherwise;
}

json_t *run_wall_limit(const json_t *limits, uint64_t wall_ms)
{
    json_t *o = limits ? json_copy((json_t *)limits) : json_object();
    (void)json_object_set_new(o, limit_defs[LIMIT_WALL_MS].key, json_integer((json_int_t)wall_ms));
    return o;
}

/* One request while its spec is made; `field` is the field that an error names. */
struct spec_builder {
    const struct api *api;
    const json_t *request;
    struct run_spec *spec;
    char *field;
    size_t field_size;
    uint64_t total;
    char **names; /* of the files, to find clashes; room for all */
    size_t n_names;
};

static void spec_builder_done(struct spec_builder *b)
{
    strv_free(b->names);
}

static int no_memory(struct err *e)
{
    return err_no_memory(e, "a request");
}

static int blame(struct spec_builder *b, const char *field)
{
    (void)snprintf(b->field, b->field_size, "%s", field);
    return -1;
}

static const char *text_of(const struct spec_builder *b, const char *key)
{
    return json_string_value(json_object_get(b->request, key));
}

/* ---- files ---- */

static int add_file(struct spec_builder *b, const char *name, uint32_t mode, const char *bytes,
                    size_t n, struct err *e)
{
    if (bundle_name_check(name, strlen(name), e))
        return -1;
    if (n > BUNDLE_FILE_MAX_BYTES)
        return err_set(e, ERR_TOO_LARGE, 0, "file '%s' has %zu bytes: up to %llu are accepted",
                       QUOTED(name), n, BUNDLE_FILE_MAX_BYTES);
    b->total += n;
    if (b->total > BUNDLE_MAX_BYTES)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the files are too large together: up to %llu bytes are accepted",
                       BUNDLE_MAX_BYTES);
    b->names[b->n_names] = strdup(name);
    if (!b->names[b->n_names])
        return no_memory(e);
    b->n_names++;
    return bundle_add(&b->spec->bundle, name, mode, bytes, n, e);
}

static int add_json_file(struct spec_builder *b, const char *name, const json_t *file,
                         struct err *e)
{
    scoped(buf) bytes = { 0 };
    const json_t *content = json_is_object(file) ? json_object_get(file, "content") : file;
    const char *encoding = json_string_value(json_object_get(file, "encoding"));
    bool executable = json_is_true(json_object_get(file, "executable"));
    (void)snprintf(b->field, b->field_size, "files.%.100s", name);
    if (content_decode(content, encoding, &bytes, e))
        return err_wrap(e, "%s", b->field);
    uint32_t mode = (executable ? 0755 : 0644) |
                    (json_is_true(json_object_get(file, "run_only")) ? BUNDLE_RUN_ONLY : 0);
    return add_file(b, name, mode, buf_str(&bytes), bytes.len, e);
}

static int add_files(struct spec_builder *b, struct err *e)
{
    json_t *files = json_object_get(b->request, "files"), *file;
    const char *name;
    size_t i;
    json_object_foreach(files, name, file)
        if (add_json_file(b, name, file, e))
            return -1;
    json_array_foreach(files, i, file)
        if (add_json_file(b, json_string_value(json_object_get(file, "name")), file, e))
            return -1;
    return 0;
}

/* A slash sorts before every other byte, so that a directory comes right before its files. */
static int by_name(const void *a, const void *b)
{
    const unsigned char *p = *(const unsigned char *const *)a,
                        *q = *(const unsigned char *const *)b;
    while (*p && *p == *q) {
        p++;
        q++;
    }
    int x = *p == '/' ? 1 : *p ? *p + 1 : 0, y = *q == '/' ? 1 : *q ? *q + 1 : 0;
    return x - y;
}

static int check_clashes(struct spec_builder *b, struct err *e)
{
    char quoted[96], other[96];
    if (b->n_names > 0)
        qsort(b->names, b->n_names, sizeof *b->names, by_name);
    for (size_t i = 1; i < b->n_names; i++) {
        const char *before = b->names[i - 1], *name = b->names[i];
        size_t n = strlen(before);
        if (strncmp(before, name, n) != 0 || (name[n] != '\0' && name[n] != '/'))
            continue;
        (void)blame(b, "files");
        if (name[n] == '\0')
            return err_set(e, ERR_BAD_REQUEST, 0, "file name '%s' is given twice: choose another",
                           text_quote(name, quoted, sizeof quoted));
        return err_set(
            e, ERR_BAD_REQUEST, 0, "file name '%s' clashes with the file '%s': choose another",
            text_quote(name, quoted, sizeof quoted), text_quote(before, other, sizeof other));
    }
    return 0;
}

/* ---- the program ---- */

static int unknown_language(struct spec_builder *b, const char *name, const char *likely,
                            struct err *e)
{
    char known[200];
    (void)blame(b, "language");
    if (name)
        return language_refuse(name, e);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the language cannot be inferred%s: give 'language', one of %s", likely,
                   language_list(known, sizeof known));
}

static int check_installed(struct spec_builder *b, struct err *e)
{
    const struct language *l = b->spec->language;
    if (!l || !b->api->engine || engine_may_run(b->api->engine, l))
        return 0;
    (void)blame(b, "language");
    return err_set(e, ERR_BAD_REQUEST, 0, "language '%s' is not installed here: '%s' installs it",
                   l->name, l->install);
}

/* For the result: the part of `code` that ran, and the source of its language. NULL: all of it, in
 * the language of the request. */
static json_t *source_json(const struct normalised *n)
{
    if (n->source == SOURCE_GIVEN && !n->unwrapped)
        return NULL;
    return json_pack("{s:s, s:b, s:i, s:i}", "language_from", language_source_word(n->source),
                     "unwrapped", n->unwrapped, "blocks", (int)n->blocks, "blocks_taken",
                     (int)n->used);
}

/* A template knows its language. */
static const char *language_name(const struct spec_builder *b)
{
    const char *named = text_of(b, "language");
    return named ? named : template_language(b->api, b->request, b->spec);
}

/* `code` is the program if the request names a language. Otherwise the program may be a part of it,
 * such as a fenced block that names its language. */
static int take_code(struct spec_builder *b, struct err *e)
{
    const json_t *code = json_object_get(b->request, "code");
    const char *named = language_name(b);
    char likely[128];
    scoped(normalised) n = { 0 };
    const struct normalise_request q = { .text = json_string_value(code),
                                         .len = json_string_length(code),
                                         .given = named ? language_find(named) : NULL };
    if (named && !q.given)
        return unknown_language(b, named, "", e);
    if (normalise(&q, &n, e))
        return -1;
    b->spec->language = n.language;
    if (!b->spec->language)
        return unknown_language(b, n.fence[0] ? n.fence : NULL,
                                normalise_likely(&n, likely, sizeof likely), e);
    (void)blame(b, "code");
    /* The field holds no NUL, but a Python dict in it can spell one. An approver would be shown
     * only the text before it. */
    if (memchr(buf_str(&n.code), '\0', n.code.len))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the program in 'code' must not hold a NUL: 'files' and 'entry' accept any "
                       "bytes");
    char name[MAIN_NAME_SIZE];
    b->spec->main_name = strdup(
        language_main_name(b->spec->language, buf_str(&n.code), n.code.len, name));
    b->spec->code = strndup(buf_str(&n.code), n.code.len);
    b->spec->extraction = source_json(&n);
    if (!b->spec->main_name || !b->spec->code)
        return no_memory(e);
    return add_file(b, b->spec->main_name, 0644, buf_str(&n.code), n.code.len, e);
}

static bool find_file(const struct buf *bundle, const char *name, struct bundle_entry *ret)
{
    bool more = true;
    struct err e;
    for (size_t pos = 0; bundle_next(bundle, &pos, ret, &more, &e) == 0 && more;)
        if (bundle_is_named(ret, name))
            return true;
    return false;
}

static int take_entry(struct spec_builder *b, struct err *e)
{
    char quoted[96];
    const char *named = language_name(b), *entry = text_of(b, "entry");
    struct bundle_entry file;
    if (!entry && b->n_names == 1)
        entry = b->names[0];
    (void)blame(b, "entry");
    if (!entry)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'entry' is missing: name the one of the %zu files that is the program",
                       b->n_names);
    if (!find_file(&b->spec->bundle, entry, &file))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "entry '%s' is none of the %zu files: name one of them, such as '%s'",
                       text_quote(entry, quoted, sizeof quoted), b->n_names, QUOTED(b->names[0]));
    if (file.head.size == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "entry '%s' is empty: at least one byte of code is needed",
                       text_quote(entry, quoted, sizeof quoted));
    b->spec->language = named ? language_find(named)
                              : language_guess(entry, file.bytes, (size_t)file.head.size);
    if (!b->spec->language)
        return unknown_language(b, named, "", e);
    b->spec->main_name = strdup(entry);
    if (text_is_utf8(file.bytes, (size_t)file.head.size) &&
        !memchr(file.bytes, '\0', (size_t)file.head.size))
        b->spec->code = strndup(file.bytes, (size_t)file.head.size);
    return b->spec->main_name ? 0 : no_memory(e);
}

/* Fields that belong to a run with one program. */
static int check_alone(struct spec_builder *b, struct err *e)
{
    static const char *const others[] = { "code", "entry",    "language",
                                          "args", "template", "stdin_open" };
    const char *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (json_object_get(b->request, others[i]))
            found = others[i];
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (json_object_get(b->request, run_option_defs[i].key))
            found = run_option_defs[i].key;
    if (!found)
        return 0;
    (void)blame(b, found);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "'%s' and 'stages' are both given: a run with stages has its programs there",
                   found);
}

/* The file of each stage is one of the files of the run. */
static int take_stages(struct spec_builder *b, const json_t *stages, size_t n_files, struct err *e)
{
    struct run_spec *s = b->spec;
    b->names = calloc(n_files + json_array_size(stages) + 1, sizeof *b->names);
    if (!b->names)
        return no_memory(e);
    if (check_alone(b, e) || stages_from_json(stages, s, b->field, b->field_size, e) ||
        add_files(b, e))
        return -1;
    for (size_t i = 0; i < s->n_stages; i++) {
        const json_t *code = stage_code(json_array_get(stages, i));
        s->language = s->stages[i].language;
        if (check_installed(b, e) || add_file(b, s->stages[i].main_name, 0644,
                                              json_string_value(code), json_string_length(code), e))
            return -1;
    }
    s->language = s->stages[0].language;
    s->main_name = strdup(s->stages[0].main_name);
    s->code = strdup(json_string_value(stage_code(json_array_get(stages, 0))));
    return s->main_name && s->code ? check_clashes(b, e) : no_memory(e);
}

/* Java wants a file to have the name of its public class. */
static int name_files(struct spec_builder *b, struct err *e)
{
    char name[BUNDLE_NAME_MAX + 1];
    struct run_spec *s = b->spec;
    (void)snprintf(name, sizeof name, "%s", s->main_name);
    if (language_name_files(s->language, &s->bundle, name, e))
        return -1;
    if (strcmp(name, s->main_name) == 0)
        return 0;
    free(s->main_name);
    s->main_name = strdup(name);
    return s->main_name ? 0 : no_memory(e);
}

static int take_program(struct spec_builder *b, struct err *e)
{
    bool has_code = json_object_get(b->request, "code");
    const json_t *files = json_object_get(b->request, "files");
    size_t n_files = json_is_object(files) ? json_object_size(files) : json_array_size(files);
    const json_t *stages = json_object_get(b->request, "stages");
    if (json_array_size(stages) > 0)
        return take_stages(b, stages, n_files, e);
    if (!has_code && n_files == 0) {
        (void)blame(b, "code");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "there is no program: give 'code', or 'files' and 'entry'");
    }
    if (has_code && text_of(b, "entry")) {
        (void)blame(b, "entry");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'code' and 'entry' are both given: one of them is the program");
    }
    b->names = calloc(n_files + 2, sizeof *b->names);
    if (!b->names)
        return no_memory(e);
    if (add_files(b, e) || (has_code ? take_code(b, e) : take_entry(b, e)) || name_files(b, e))
        return -1;
    return check_clashes(b, e) || check_installed(b, e) ? -1 : 0;
}

/* ---- arguments, environment, stdin, limits ---- */

static int take_strings(struct spec_builder *b, const char *field, char ***ret, struct err *e)
{
    const json_t *list = json_object_get(b->request, field), *value;
    size_t i;
    char **strings = calloc(json_array_size(list) + 1, sizeof *strings);
    if (!strings)
        return no_memory(e);
    *ret = strings;
    json_array_foreach(list, i, value) {
        strings[i] = strdup(json_string_value(value));
        if (!strings[i])
            return no_memory(e);
    }
    return 0;
}

static int take_env(struct spec_builder *b, struct err *e)
{
    json_t *map = json_object_get(b->request, "env"), *value;
    const char *name;
    size_t i = 0;
    b->spec->env = calloc(json_object_size(map) + 1, sizeof *b->spec->env);
    if (!b->spec->env)
        return no_memory(e);
    json_object_foreach(map, name, value) {
        char *entry;
        if (strchr(name, '=')) {
            (void)blame(b, "env");
            return err_set(
                e, ERR_BAD_REQUEST, 0,
                "environment name '%s' contains a '=': letters, digits and _ are accepted",
                QUOTED(name));
        }
        if (asprintf(&entry, "%s=%s", name, json_string_value(value)) < 0)
            return no_memory(e);
        b->spec->env[i++] = entry;
        if (env_check(entry, e))
            return blame(b, "env");
    }
    return 0;
}

static void measure(char *const *list, size_t *n, size_t *bytes)
{
    for (; *list; list++) {
        *bytes += strlen(*list) + 1;
        ++*n;
    }
}

static int check_size(struct spec_builder *b, struct err *e)
{
    size_t n = 0, bytes = 0;
    measure(b->spec->args, &n, &bytes);
    (void)blame(b, bytes > JOB_TEXT_MAX || n > JOB_STRINGS_MAX ? "args" : "env");
    measure(b->spec->env, &n, &bytes);
    if (n <= JOB_STRINGS_MAX && bytes <= JOB_TEXT_MAX)
        return 0;
    return err_set(e, ERR_TOO_LARGE, 0,
                   "args and env are too large: %zu strings of %zu bytes together, and up to %d of "
                   "%d bytes are accepted; files and stdin take more",
                   n, bytes, JOB_STRINGS_MAX, JOB_TEXT_MAX);
}

/* A tree is for the directory of /execute: a result lists files. */
static int check_outputs(struct spec_builder *b, const char *surface, struct err *e)
{
    bool tree = strcmp(surface, "nemo") == 0;
    (void)blame(b, "outputs");
    for (char **name = b->spec->outputs; *name; name++)
        if (strcmp(*name, ".") != 0 && !(tree && strcmp(*name, RUN_OUTPUT_TREE) == 0) &&
            output_name_check(*name, strlen(*name), e))
            return -1;
    return 0;
}

static int take_stdin(struct spec_builder *b, struct err *e)
{
    const json_t *bytes = json_object_get(b->request, "stdin");
    (void)blame(b, "stdin");
    b->spec->stdin_open = run_flag(b->request, "stdin_open", false);
    if (bytes && content_decode(bytes, text_of(b, "stdin_encoding"), &b->spec->stdin_bytes, e))
        return err_wrap(e, "stdin");
    return 0;
}

static int take_limits(struct spec_builder *b, struct err *e)
{
    const struct settings *s = b->api->settings;
    const json_t *given = json_object_get(b->request, "limits");
    const struct limits *got = &b->spec->limits;
    if (api_limits(given, &s->limit_default, &s->limit_max, &b->spec->limits, b->field,
                   b->field_size, e))
        return -1;
    (void)blame(b, "files");
    if (b->total > got->v[LIMIT_DISK] || b->n_names >= got->v[LIMIT_FILES])
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "%zu files of %llu bytes do not fit: limits.disk is %llu, limits.files %llu; send "
            "less, or raise the limit",
            b->n_names, (unsigned long long)b->total, (unsigned long long)got->v[LIMIT_DISK],
            (unsigned long long)got->v[LIMIT_FILES]);
    if (b->spec->n_stages > 0)
        return stages_take_limits(s, json_object_get(b->request, "stages"), b->spec, b->field,
                                  b->field_size, e);
    return 0;
}

/* ---- run options ---- */

static int take_compile_limits(struct spec_builder *b, struct err *e)
{
    const struct settings *s = b->api->settings;
    struct limits defaults = compile_limits_default(), most = s->limit_max;
    char field[96] = "";
    if (most.v[LIMIT_OUTPUT] > COMPILE_OUTPUT_MAX)
        most.v[LIMIT_OUTPUT] = COMPILE_OUTPUT_MAX;
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (defaults.v[i] > most.v[i])
            defaults.v[i] = most.v[i];
    if (api_limits(json_object_get(b->request, "compile_limits"), &defaults, &most,
                   &b->spec->options.compile_limits, field, sizeof field, e) == 0)
        return 0;
    (void)snprintf(b->field, b->field_size, "compile_%s", field);
    return -1;
}

/* Every check that is possible now, so that the error names the field. */
static int check_commands(struct spec_builder *b, struct err *e)
{
    const struct run_spec *s = b->spec;
    char *const *names = s->options.allow_commands;
    struct allowlist_memo none = { 0 };
    struct allowlist_memo *memo = b->api->core ? &b->api->core->commands : &none;
    if (!names)
        return 0;
    (void)blame(b, "allow_commands");
    int failed = allowlist_possible(s->language,
                                    b->api->engine ? engine_isolation(b->api->engine) : NULL,
                                    s->writable_root, e) ||
                 allowlist_usable(memo, s->language->command[0], names, e);
    allowlist_memo_done(&none);
    return failed ? -1 : 0;
}

/* The arguments of a compiler must fit into a job, too. */
static int check_compiler(struct spec_builder *b, struct err *e)
{
    const struct run_spec *s = b->spec;
    const struct stages stages = stages_of(s->language, &s->options);
    autofree char **sources = NULL;
    size_t n = 0, bytes = 0, n_args, args;
    if (stages.at[0] == STAGE_RUN)
        return 0;
    if (s->options.compiler_args)
        measure(s->options.compiler_args, &n, &bytes);
    n_args = n;
    args = bytes;
    if (stage_sources(s->language, s->main_name, &s->bundle, &sources, e))
        return blame(b, "files");
    for (size_t i = 0; i < stages.n && stages.at[i] != STAGE_RUN; i++) {
        const char *const *word = stages.at[i] == STAGE_CHECK ? s->language->check
                                                              : s->language->compile;
        size_t n_here = n_args, here = args;
        for (; *word; word++)
            if (strcmp(*word, "{sources}") == 0)
                measure(sources, &n_here, &here);
        n = n_here > n ? n_here : n;
        bytes = here > bytes ? here : bytes;
    }
    if (n <= JOB_STRINGS_MAX && bytes <= JOB_TEXT_MAX)
        return 0;
    (void)blame(b, args > JOB_TEXT_MAX ? "compiler_args" : "files");
    return err_set(e, ERR_TOO_LARGE, 0,
                   "compiler_args and the names of source files are too large: %zu strings of %zu "
                   "bytes together, and up to %d of %d bytes are accepted; shorten them",
                   n, bytes, JOB_STRINGS_MAX, JOB_TEXT_MAX);
}

static int check_options(struct spec_builder *b, struct err *e)
{
    const char *field;
    return language_takes(b->spec->language, &b->spec->options, &field, e) ? blame(b, field) : 0;
}

/* One option that is present. An absent list stays NULL, which differs from an empty one. */
static int take_option(struct spec_builder *b, const struct run_option_def *d, struct err *e)
{
    void *member = run_option_of(&b->spec->options, d);
    switch (d->kind) {
    case RUN_OPTION_BOOL:
        *(bool *)member = run_flag(b->request, d->key, false);
        return 0;
    case RUN_OPTION_LIST:
        return take_strings(b, d->key, member, e);
    case RUN_OPTION_CHOICE:
        for (unsigned i = 0; d->words[i]; i++)
            if (strcmp(d->words[i], text_of(b, d->key)) == 0)
                *(unsigned *)member = i;
        return 0;
    case RUN_OPTION_LIMITS:
        return 0; /* take_compile_limits(): absent ones have defaults */
    }
    return 0;
}

static int take_options(struct spec_builder *b, struct err *e)
{
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (json_object_get(b->request, run_option_defs[i].key) &&
            take_option(b, &run_option_defs[i], e))
            return -1;
    return check_commands(b, e) || check_options(b, e) || check_compiler(b, e) ||
                   take_compile_limits(b, e)
               ? -1
               : 0;
}

/* A request with strict_limits is refused if one of its limits is not enforced here. */
static int check_strict(struct spec_builder *b, struct err *e)
{
    const struct isolation *iso = b->api->engine ? engine_isolation(b->api->engine) : NULL;
    const json_t *given = json_object_get(b->request, "limits");
    for (int i = 0; run_flag(b->request, "strict_limits", false) && iso && i < LIMIT_COUNT; i++) {
        if (!(iso->unenforced & LIMIT_BIT(i)) || !json_object_get(given, limit_defs[i].key))
            continue;
        (void)snprintf(b->field, b->field_size, "limits.%s", limit_defs[i].key);
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "%s cannot be enforced at isolation level '%s' here, and strict_limits is true; "
            "'belljar doctor' says how to get a better level",
            b->field, level_name(iso->level));
    }
    return 0;
}

static int take_network(struct spec_builder *b, struct err *e)
{
    return network_from_json(b->api, b->spec->key, json_object_get(b->request, "network"),
                             &b->spec->network, b->field, b->field_size, e);
}

static int check_network(struct spec_builder *b, struct err *e)
{
    return network_possible(b->api, &b->spec->network, e) ? blame(b, "network") : 0;
}

/* The warden would refuse it too, but this error names the field. */
static int check_level(struct spec_builder *b, struct err *e)
{
    const struct isolation *iso = b->api->engine ? engine_isolation(b->api->engine) : NULL;
    if (!iso || iso->level != LEVEL_PROCESS)
        return 0;
    if (b->spec->mounts) {
        (void)blame(b, "mounts");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "a mount needs isolation level jar or rootless, and the level here is "
                       "'process': leave mounts out, or send files");
    }
    if (b->spec->n_stages > 0) {
        (void)blame(b, "stages");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "stages share one jar, which needs isolation level jar or rootless, and the "
                       "level here is 'process': send one run for each program");
    }
    for (char **name = b->spec->outputs; name && *name; name++) {
        if (!output_is_in_tmp(*name))
            continue;
        (void)blame(b, "outputs");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' needs isolation level jar or rootless, and the level here is "
                       "'process', where a program has no /tmp of its own: write it to the "
                       "directory of the program",
                       QUOTED(*name));
    }
    if (!b->spec->writable_root)
        return 0;
    (void)blame(b, "read_only");
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "a writable root needs isolation level jar or rootless, and the level here is "
                   "'process': leave read_only out");
}

static int take_mounts(struct spec_builder *b, struct err *e)
{
    return mounts_from_json(b->api->settings, json_object_get(b->request, "mounts"),
                            &b->spec->mounts, b->field, b->field_size, e);
}

static int take_names(struct spec_builder *b, const struct api_identity *who, const char *surface,
                      struct err *e)
{
    struct run_spec *s = b->spec;
    const char *thread = text_of(b, "thread_id");
    s->key = who->key ? strdup(who->key) : NULL;
    s->key_max_runs = who->max_runs;
    s->may_approve = who->scopes & SCOPE_BIT(SCOPE_APPROVE);
    s->actor = strdup(who->name);
    if (asprintf(&s->requester, "%s%s%s", who->name, who->key ? "#" : "",
                 who->key ? who->owner : "") < 0)
        s->requester = NULL;
    s->surface = strdup(surface);
    s->thread = thread ? strdup(thread) : NULL;
    s->request = json_dumps(b->request, JSON_COMPACT);
    json_t *metadata = json_object_get(b->request, "metadata");
    s->metadata = metadata ? json_incref(metadata) : NULL;
    if ((who->key && !s->key) || !s->actor || !s->requester || !s->surface ||
        (thread && !s->thread) || !s->request)
        return no_memory(e);
    return 0;
}

int run_spec_from_json(const struct api *api, const struct api_identity *who, const json_t *request,
                       const char *surface, struct run_spec *ret, char *ret_field,
                       size_t field_size, struct err *e)
{
    scoped(run_spec) spec = { 0 };
    scoped(spec_builder) b = {
        .api = api, .request = request, .spec = &spec, .field = ret_field, .field_size = field_size
    };
    spec.writable_root = !run_flag(request, "read_only", true);
    if (take_names(&b, who, surface, e) ||
        template_check(api, request, &spec, ret_field, field_size, e) || take_program(&b, e) ||
        take_stdin(&b, e) || take_strings(&b, "args", &spec.args, e) ||
        take_strings(&b, "outputs", &spec.outputs, e) || check_outputs(&b, surface, e) ||
        take_env(&b, e) || check_size(&b, e) || take_limits(&b, e) || check_strict(&b, e) ||
        take_mounts(&b, e) || check_level(&b, e) || take_network(&b, e) || take_options(&b, e) ||
        template_apply(api, request, &spec, ret_field, field_size, e))
        return -1;
    ret_field[0] = '\0';
    *ret = spec;
    spec = (struct run_spec){ 0 };
    return 0;
}

/* The language, and the files beside the program that it has not. */
static int take_session(struct spec_builder *b, struct err *e)
{
    const json_t *files = json_object_get(b->request, "files");
    size_t n_files = json_is_object(files) ? json_object_size(files) : json_array_size(files);
    const char *named = text_of(b, "language");
    b->spec->language = language_find(named);
    if (!b->spec->language)
        return unknown_language(b, named, "", e);
    b->names = calloc(n_files + 2, sizeof *b->names);
    if (!b->names)
        return no_memory(e);
    return check_installed(b, e) || add_files(b, e) || check_clashes(b, e) ? -1 : 0;
}

int run_spec_of_session(const struct api *api, const struct api_identity *who,
                        const json_t *request, struct run_spec *ret, char *ret_field,
                        size_t field_size, struct err *e)
{
    scoped(run_spec) spec = { 0 };
    scoped(spec_builder) b = {
        .api = api, .request = request, .spec = &spec, .field = ret_field, .field_size = field_size
    };
    if (take_session(&b, e) || take_strings(&b, "args", &spec.args, e) || take_env(&b, e) ||
        check_size(&b, e) || take_limits(&b, e) || take_names(&b, who, "session", e) ||
        take_mounts(&b, e) || check_level(&b, e) || take_network(&b, e))
        return -1;
    ret_field[0] = '\0';
    *ret = spec;
    spec = (struct run_spec){ 0 };
    return 0;
}

int run_spec_check_here(const struct api *api, const json_t *request, struct run_spec *spec,
                        char *ret_field, size_t field_size, struct err *e)
{
    struct spec_builder b = {
        .api = api, .request = request, .spec = spec, .field = ret_field, .field_size = field_size
    };
    if (check_installed(&b, e) || check_strict(&b, e) || check_level(&b, e) ||
        check_network(&b, e) || check_commands(&b, e) ||
        template_apply(api, request, spec, ret_field, field_size, e))
        return -1;
    ret_field[0] = '\0';
    return 0;
}
