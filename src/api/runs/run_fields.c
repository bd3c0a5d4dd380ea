#include "api/runs/run_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allowlist/allowlist.h"
#include "api/kernel/core.h"
#include "api/kernel/fields.h"
#include "base/auto.h"
#include "base/text.h"
#include "normalise/normalise.h"
#include "run/command_line.h"
#include "run/stages.h"
#include "spec/bundle.h"
#include "spec/permission.h"

const struct api_field run_fields[] = {
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "name or alias (GET /v1/languages); inferred from names and code when missing",
      .also = "lang,lang_id,language_id,runtime" },
    { "code", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the program; or give files and entry",
      .also = "source,source_code,src,script,program,content,generated_code" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX,
      .help = "files beside the program in /sandbox, by name", .also = "file" },
    { "entry", FIELD_STRING, .min = 1, .max = BUNDLE_NAME_MAX,
      .help = "which of the files is the program",
      .also = "main,main_file,entrypoint,entry_point" },
    { "stdin", FIELD_DATA, .help = "what the program reads", .also = "input,std_input" },
    { "stdin_encoding", FIELD_STRING, .one_of = content_encodings,
      .help = "of stdin; utf-8 by default" },
    { "stdin_open", FIELD_BOOL, .help = "more stdin follows by POST /v1/runs/{id}/stdin" },
    { "args", FIELD_STRINGS, .max = 1000, .help = "arguments of the program",
      .also = "argv,arguments" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment beyond the built-in one",
      .also = "environment,env_vars" },
    { "limits", FIELD_LIMITS, .help = "what the run may take",
      .also = "timeout=limits.wall_ms,timeout_ms=limits.wall_ms,time_limit=limits.wall_ms,"
              "cpu_time_limit=limits.cpu_ms,memory=limits.memory,memory_limit=limits.memory" },
    { "strict_limits", FIELD_BOOL,
      .help = "refuse the run when a limit it names cannot be enforced here" },
    { "read_only", FIELD_BOOL, .help = "false gives a throw-away writable root; true by default" },
    { "compile_limits", FIELD_LIMITS, .help = "what its compiler may take" },
    { "compiler_args", FIELD_STRINGS, .max = 100, .help = "arguments of the compiler",
      .also = "compiler_options,compile_args,compiler_flags" },
    { "no_cache", FIELD_BOOL,
      .help = "compile it anew, whatever was compiled before, and keep nothing of it" },
    { "check_types", FIELD_BOOL, .help = "TypeScript: errors of types are errors of the compiler" },
    { "allow_commands", FIELD_STRINGS, .max = 200,
      .help = "bash and zsh: the commands that may be executed, and no others",
      .also = "allowed_commands,commands" },
    { "format", FIELD_STRING, .one_of = table_formats, .help = "SQL: how tables are printed" },
    { "profile", FIELD_BOOL, .help = "find out where time and memory go" },
    { "outputs", FIELD_STRINGS, .max = JAR_RUN_OUTPUTS_MAX,
      .help = "names of files to bring back from /sandbox; \".\" is every file" },
    { "wait", FIELD_BOOL, .help = "false answers 202 with the id at once; true by default" },
    { "stream", FIELD_BOOL, .help = "answer with events while it runs (NDJSON, or SSE by Accept)" },
    { "cancel_on_disconnect", FIELD_BOOL, .help = "end the run when the client goes away" },
    { "thread_id", FIELD_STRING, .min = 1, .max = 200, .help = "the session this run belongs to",
      .also = "session,session_id" },
    { "permission_mode", FIELD_STRING, .one_of = permission_modes,
      .help = "default, manual and acceptEdits ask a person first" },
    { "metadata", FIELD_ANY, .help = "given back in the result" },
    { 0 },
};

bool run_flag(const json_t *request, const char *key, bool otherwise)
{
    const json_t *v = json_object_get(request, key);
    return v ? json_is_true(v) : otherwise;
}

static json_t *milliseconds(uint64_t ms)
{
    return json_sprintf("%" PRIu64 "ms", ms);
}

json_t *run_time_limits(const struct settings *s, uint64_t wall_ms)
{
    uint64_t cpu = s->limit_default.v[LIMIT_CPU_MS], most = s->limit_max.v[LIMIT_CPU_MS];
    cpu = cpu > wall_ms ? cpu : wall_ms;
    return json_pack("{s:o, s:o}", limit_defs[LIMIT_WALL_MS].key, milliseconds(wall_ms),
                     limit_defs[LIMIT_CPU_MS].key, milliseconds(cpu < most ? cpu : most));
}

/* One request on its way to a spec; `field` is what an error is about. */
struct making {
    const struct api *api;
    const json_t *request;
    struct run_spec *spec;
    char *field;
    size_t field_size;
    uint64_t total;
    char **names; /* of the files, to find clashes */
    size_t n_names, max_names;
};

static void making_done(struct making *m)
{
    for (size_t i = 0; i < m->n_names; i++)
        free(m->names[i]);
    free(m->names);
}

static int no_memory(struct err *e)
{
    return err_no_memory(e, "a request");
}

static int blame(struct making *m, const char *field)
{
    (void)snprintf(m->field, m->field_size, "%s", field);
    return -1;
}

static const char *text_of(const struct making *m, const char *key)
{
    return json_string_value(json_object_get(m->request, key));
}

/* ---- files ---- */

static int add_file(struct making *m, const char *name, uint32_t mode, const char *bytes, size_t n,
                    struct err *e)
{
    if (bundle_name_check(name, strlen(name), e))
        return -1;
    if (n > BUNDLE_FILE_MAX_BYTES)
        return err_set(e, ERR_TOO_LARGE, 0, "file '%s' has %zu bytes: up to %llu are accepted",
                       QUOTED(name), n, BUNDLE_FILE_MAX_BYTES);
    m->total += n;
    if (m->total > BUNDLE_MAX_BYTES)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the files are too large together: up to %llu bytes are accepted",
                       BUNDLE_MAX_BYTES);
    if (m->n_names == m->max_names) {
        size_t more = m->max_names ? m->max_names * 2 : 16;
        char **grown = realloc(m->names, more * sizeof *grown);
        if (!grown)
            return no_memory(e);
        m->names = grown;
        m->max_names = more;
    }
    m->names[m->n_names] = strdup(name);
    if (!m->names[m->n_names])
        return no_memory(e);
    m->n_names++;
    return bundle_add(&m->spec->bundle, name, mode, bytes, n, e);
}

static int add_json_file(struct making *m, const char *name, const json_t *file, struct err *e)
{
    scoped(buf) bytes = { 0 };
    const json_t *content = json_is_object(file) ? json_object_get(file, "content") : file;
    const char *encoding = json_string_value(json_object_get(file, "encoding"));
    bool executable = json_is_true(json_object_get(file, "executable"));
    (void)snprintf(m->field, m->field_size, "files.%.100s", name);
    if (content_decode(content, encoding, &bytes, e))
        return err_wrap(e, "%s", m->field);
    return add_file(m, name, executable ? 0755 : 0644, buf_str(&bytes), bytes.len, e);
}

static int add_files(struct making *m, struct err *e)
{
    json_t *files = json_object_get(m->request, "files"), *file;
    const char *name;
    size_t i;
    json_object_foreach(files, name, file)
        if (add_json_file(m, name, file, e))
            return -1;
    json_array_foreach(files, i, file)
        if (add_json_file(m, json_string_value(json_object_get(file, "name")), file, e))
            return -1;
    return 0;
}

/* A slash sorts before everything else, so that a directory's name stands right before what is in it. */
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

static int check_clashes(struct making *m, struct err *e)
{
    char quoted[96], other[96];
    if (m->n_names > 0)
        qsort(m->names, m->n_names, sizeof *m->names, by_name);
    for (size_t i = 1; i < m->n_names; i++) {
        const char *before = m->names[i - 1], *name = m->names[i];
        size_t n = strlen(before);
        if (strncmp(before, name, n) != 0 || (name[n] != '\0' && name[n] != '/'))
            continue;
        (void)blame(m, "files");
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

static int unknown_language(struct making *m, const char *name, const char *likely, struct err *e)
{
    char known[200];
    (void)blame(m, "language");
    if (name) {
        (void)!language_refuse(name, e);
        return -1;
    }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the language cannot be told%s: give 'language', one of %s", likely,
                   language_list(known, sizeof known));
}

static int check_installed(struct making *m, struct err *e)
{
    const struct language *l = m->spec->language;
    if (!m->api->engine || engine_may_run(m->api->engine, l))
        return 0;
    (void)blame(m, "language");
    return err_set(e, ERR_BAD_REQUEST, 0, "language '%s' is not installed here: '%s' installs it",
                   l->name, l->install);
}

/* For the result, where somebody may ask what ran, and as what. */
static json_t *taken_json(const struct normalised *n)
{
    if (n->source == SOURCE_GIVEN && !n->unwrapped)
        return NULL;
    return json_pack("{s:s, s:b, s:i, s:i}", "language_from", language_source_word(n->source),
                     "unwrapped", n->unwrapped, "blocks", (int)n->blocks, "blocks_taken",
                     (int)n->used);
}

/* `code` as it is when the language is named; else it may come wrapped, and say in what. */
static int take_code(struct making *m, struct err *e)
{
    const json_t *code = json_object_get(m->request, "code");
    const char *named = text_of(m, "language");
    char likely[128];
    scoped(normalised) n = { 0 };
    const struct normalise_request q = { .text = json_string_value(code),
                                         .len = json_string_length(code),
                                         .given = named ? language_find(named) : NULL };
    if (named && !q.given)
        return unknown_language(m, named, "", e);
    if (normalise(&q, &n, e))
        return -1;
    m->spec->language = n.language;
    if (!m->spec->language)
        return unknown_language(m, n.fence[0] ? n.fence : NULL,
                                normalise_likely(&n, likely, sizeof likely), e);
    (void)blame(m, "code");
    /* The field has none, but a dict in it can spell one: who approves would be shown what stands before it. */
    if (memchr(buf_str(&n.code), '\0', n.code.len))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the program in 'code' must not hold a NUL: 'files' and 'entry' take any "
                       "bytes");
    char name[MAIN_NAME_SIZE];
    m->spec->main_name = strdup(
        language_main_name(m->spec->language, buf_str(&n.code), n.code.len, name));
    m->spec->code = strndup(buf_str(&n.code), n.code.len);
    m->spec->extraction = taken_json(&n);
    if (!m->spec->main_name || !m->spec->code)
        return no_memory(e);
    return add_file(m, m->spec->main_name, 0644, buf_str(&n.code), n.code.len, e);
}

/* The bytes of a file that is in the bundle. */
static bool find_file(const struct buf *bundle, const char *name, struct bundle_entry *ret)
{
    bool more = true;
    struct err e;
    for (size_t pos = 0; bundle_next(bundle, &pos, ret, &more, &e) == 0 && more;)
        if (ret->head.name_len == strlen(name) && memcmp(ret->name, name, strlen(name)) == 0)
            return true;
    return false;
}

static int take_entry(struct making *m, struct err *e)
{
    char quoted[96];
    const char *named = text_of(m, "language"), *entry = text_of(m, "entry");
    struct bundle_entry file;
    if (!entry && m->n_names == 1)
        entry = m->names[0];
    (void)blame(m, "entry");
    if (!entry)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'entry' is missing: which of the %zu files is the program?", m->n_names);
    if (!find_file(&m->spec->bundle, entry, &file))
        return err_set(e, ERR_BAD_REQUEST, 0, "entry '%s' is none of the files",
                       text_quote(entry, quoted, sizeof quoted));
    if (file.head.size == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "entry '%s' is empty: at least one byte of code is needed",
                       text_quote(entry, quoted, sizeof quoted));
    m->spec->language = named ? language_find(named)
                              : language_guess(entry, file.bytes, (size_t)file.head.size);
    if (!m->spec->language)
        return unknown_language(m, named, "", e);
    m->spec->main_name = strdup(entry);
    if (text_is_utf8(file.bytes, (size_t)file.head.size) &&
        !memchr(file.bytes, '\0', (size_t)file.head.size))
        m->spec->code = strndup(file.bytes, (size_t)file.head.size);
    return m->spec->main_name ? 0 : no_memory(e);
}

static int take_program(struct making *m, struct err *e)
{
    bool has_code = json_object_get(m->request, "code");
    bool has_files = json_object_size(json_object_get(m->request, "files")) > 0 ||
                     json_array_size(json_object_get(m->request, "files")) > 0;
    if (!has_code && !has_files) {
        (void)blame(m, "code");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "there is no program: give 'code', or 'files' and 'entry'");
    }
    if (has_code && text_of(m, "entry")) {
        (void)blame(m, "entry");
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'code' and 'entry' are both given: one of them is the program");
    }
    if (add_files(m, e) || (has_code ? take_code(m, e) : take_entry(m, e)))
        return -1;
    return check_clashes(m, e) || check_installed(m, e) ? -1 : 0;
}

/* ---- the rest ---- */

static int take_strings(struct making *m, const char *field, char ***ret, struct err *e)
{
    const json_t *list = json_object_get(m->request, field), *value;
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

static int take_env(struct making *m, struct err *e)
{
    json_t *map = json_object_get(m->request, "env"), *value;
    const char *name;
    size_t i = 0;
    m->spec->env = calloc(json_object_size(map) + 1, sizeof *m->spec->env);
    if (!m->spec->env)
        return no_memory(e);
    json_object_foreach(map, name, value) {
        char *entry;
        if (strchr(name, '=')) {
            (void)blame(m, "env");
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "environment name '%s' holds a '=': letters, digits and _ are accepted",
                           QUOTED(name));
        }
        if (asprintf(&entry, "%s=%s", name, json_string_value(value)) < 0)
            return no_memory(e);
        m->spec->env[i++] = entry;
        if (env_check(entry, e))
            return blame(m, "env");
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

static int check_size(struct making *m, struct err *e)
{
    size_t n = 0, bytes = 0;
    measure(m->spec->args, &n, &bytes);
    (void)blame(m, bytes > JOB_TEXT_MAX || n > JOB_STRINGS_MAX ? "args" : "env");
    measure(m->spec->env, &n, &bytes);
    if (n <= JOB_STRINGS_MAX && bytes <= JOB_TEXT_MAX)
        return 0;
    return err_set(e, ERR_TOO_LARGE, 0,
                   "args and env are too large: %zu strings of %zu bytes together, and up to %d of "
                   "%d bytes are accepted; files and stdin take more",
                   n, bytes, JOB_STRINGS_MAX, JOB_TEXT_MAX);
}

static int check_outputs(struct making *m, struct err *e)
{
    (void)blame(m, "outputs");
    for (char **name = m->spec->outputs; *name; name++)
        if (strcmp(*name, ".") != 0 && bundle_name_check(*name, strlen(*name), e))
            return -1;
    return 0;
}

static int take_stdin(struct making *m, struct err *e)
{
    const json_t *bytes = json_object_get(m->request, "stdin");
    (void)blame(m, "stdin");
    m->spec->stdin_open = run_flag(m->request, "stdin_open", false);
    if (bytes && content_decode(bytes, text_of(m, "stdin_encoding"), &m->spec->stdin_bytes, e))
        return err_wrap(e, "stdin");
    return 0;
}

static int take_limits(struct making *m, struct err *e)
{
    const struct settings *s = m->api->settings;
    const json_t *given = json_object_get(m->request, "limits");
    const struct limits *got = &m->spec->limits;
    if (api_limits(given, &s->limit_default, &s->limit_max, &m->spec->limits, m->field,
                   m->field_size, e))
        return -1;
    (void)blame(m, "files");
    if (m->total > got->v[LIMIT_DISK] || m->n_names >= got->v[LIMIT_FILES])
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%zu files of %llu bytes do not fit: limits.disk is %llu, limits.files %llu",
                       m->n_names, (unsigned long long)m->total,
                       (unsigned long long)got->v[LIMIT_DISK],
                       (unsigned long long)got->v[LIMIT_FILES]);
    return 0;
}

/* ---- run options ---- */

/* A list that was not given is none at all, and that is not the same as an empty one. */
static int take_list(struct making *m, const char *field, char ***ret, struct err *e)
{
    return json_object_get(m->request, field) ? take_strings(m, field, ret, e) : 0;
}

static int take_compile_limits(struct making *m, struct err *e)
{
    const struct settings *s = m->api->settings;
    struct limits defaults = compile_limits_default(), most = s->limit_max;
    char field[96] = "";
    if (most.v[LIMIT_OUTPUT] > COMPILE_OUTPUT_MAX)
        most.v[LIMIT_OUTPUT] = COMPILE_OUTPUT_MAX;
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (defaults.v[i] > most.v[i])
            defaults.v[i] = most.v[i];
    if (api_limits(json_object_get(m->request, "compile_limits"), &defaults, &most,
                   &m->spec->options.compile_limits, field, sizeof field, e) == 0)
        return 0;
    (void)snprintf(m->field, m->field_size, "compile_%s", field);
    return -1;
}

/* All that can be said now, so that the caller hears of it by name. */
static int check_commands(struct making *m, struct err *e)
{
    const struct run_spec *s = m->spec;
    char *const *names = s->options.allow_commands;
    struct allowlist_memo none = { 0 };
    struct allowlist_memo *memo = m->api->core ? &m->api->core->commands : &none;
    if (!names)
        return 0;
    (void)blame(m, "allow_commands");
    int failed = allowlist_possible(s->language,
                                    m->api->engine ? engine_isolation(m->api->engine) : NULL,
                                    s->writable_root, e) ||
                 allowlist_usable(memo, s->language->command[0], names, e);
    allowlist_memo_done(&none);
    return failed ? -1 : 0;
}

/* What a compiler is told fits as well, or nobody could start it. */
static int check_compiler(struct making *m, struct err *e)
{
    const struct run_spec *s = m->spec;
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
        return blame(m, "files");
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
    (void)blame(m, args > JOB_TEXT_MAX ? "compiler_args" : "files");
    return err_set(e, ERR_TOO_LARGE, 0,
                   "compiler_args and the names of source files are too large: %zu strings of %zu "
                   "bytes together, and up to %d of %d bytes are accepted",
                   n, bytes, JOB_STRINGS_MAX, JOB_TEXT_MAX);
}

static int check_options(struct making *m, struct err *e)
{
    const char *field;
    return language_takes(m->spec->language, &m->spec->options, &field, e) ? blame(m, field) : 0;
}

static int take_options(struct making *m, struct err *e)
{
    struct run_options *w = &m->spec->options;
    const char *format = text_of(m, "format");
    w->profile = run_flag(m->request, "profile", false);
    w->check_types = run_flag(m->request, "check_types", false);
    w->no_cache = run_flag(m->request, "no_cache", false);
    for (int i = 0; format && table_formats[i]; i++)
        if (strcmp(table_formats[i], format) == 0)
            w->format = (enum table_format)i;
    return take_list(m, "allow_commands", &w->allow_commands, e) || check_commands(m, e) ||
                   take_list(m, "compiler_args", &w->compiler_args, e) || check_options(m, e) ||
                   check_compiler(m, e) || take_compile_limits(m, e)
               ? -1
               : 0;
}

/* Whoever insists on a limit is not served without it. */
static int check_strict(struct making *m, struct err *e)
{
    const struct isolation *iso = m->api->engine ? engine_isolation(m->api->engine) : NULL;
    const json_t *given = json_object_get(m->request, "limits");
    for (int i = 0; run_flag(m->request, "strict_limits", false) && iso && i < LIMIT_COUNT; i++) {
        if (!(iso->unenforced & LIMIT_BIT(i)) || !json_object_get(given, limit_defs[i].key))
            continue;
        (void)snprintf(m->field, m->field_size, "limits.%s", limit_defs[i].key);
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s cannot be enforced at isolation level '%s' here ('belljar doctor' says "
                       "how to get more), and strict_limits is true",
                       m->field, level_name(iso->level));
    }
    return 0;
}

/* Checks of what the warden would refuse, so that the caller hears of it by name. */
static int check_level(struct making *m, struct err *e)
{
    const struct isolation *iso = m->api->engine ? engine_isolation(m->api->engine) : NULL;
    if (!m->spec->writable_root || !iso || iso->level != LEVEL_PROCESS)
        return 0;
    (void)blame(m, "read_only");
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "a writable root needs isolation level jar or rootless, and this is 'process'");
}

static int take_names(struct making *m, const struct api_identity *who, const char *surface,
                      struct err *e)
{
    struct run_spec *s = m->spec;
    const char *thread = text_of(m, "thread_id");
    s->key = who->key ? strdup(who->key) : NULL;
    s->key_max_runs = who->max_runs;
    s->may_approve = who->scopes & SCOPE_BIT(SCOPE_APPROVE);
    s->actor = strdup(who->name);
    s->surface = strdup(surface);
    s->thread = thread ? strdup(thread) : NULL;
    s->request = json_dumps(m->request, JSON_COMPACT);
    json_t *metadata = json_object_get(m->request, "metadata");
    s->metadata = metadata ? json_incref(metadata) : NULL;
    if ((who->key && !s->key) || !s->actor || !s->surface || (thread && !s->thread) || !s->request)
        return no_memory(e);
    return 0;
}

int run_spec_from_json(const struct api *api, const struct api_identity *who, const json_t *request,
                       const char *surface, struct run_spec *ret, char *ret_field,
                       size_t field_size, struct err *e)
{
    scoped(run_spec) spec = { 0 };
    scoped(making) m = {
        .api = api, .request = request, .spec = &spec, .field = ret_field, .field_size = field_size
    };
    spec.writable_root = !run_flag(request, "read_only", true);
    if (take_program(&m, e) || take_stdin(&m, e) || take_strings(&m, "args", &spec.args, e) ||
        take_strings(&m, "outputs", &spec.outputs, e) || check_outputs(&m, e) || take_env(&m, e) ||
        check_size(&m, e) || take_limits(&m, e) || check_strict(&m, e) || check_level(&m, e) ||
        take_options(&m, e) || take_names(&m, who, surface, e))
        return -1;
    ret_field[0] = '\0';
    *ret = spec;
    spec = (struct run_spec){ 0 };
    return 0;
}

void run_add_streams(json_t *o, const struct journal *j, uint64_t inline_max)
{
    static const struct {
        enum journal_kind kind;
        const char *key, *cut_key;
    } streams[] = {
        { JOURNAL_STDOUT, "stdout", "stdout_cut" },
        { JOURNAL_STDERR, "stderr", "stderr_cut" },
    };
    for (int i = 0; i < 2; i++) {
        scoped(buf) bytes = { 0 };
        struct err e;
        if (journal_collect(j, streams[i].kind, inline_max, &bytes, &e))
            bytes.len = 0;
        /* A character cut in two would make the whole look like bytes. */
        bool cut = j->stream_bytes[streams[i].kind] > bytes.len;
        if (cut)
            bytes.len = text_whole(bytes.data, bytes.len);
        result_add_stream(o, streams[i].key, &bytes);
        if (cut)
            (void)json_object_set_new(o, streams[i].cut_key, json_true());
    }
}

json_t *run_result_object(const struct run *x, uint64_t inline_max)
{
    json_t *o = json_copy(x->result_json);
    if (o)
        run_add_streams(o, &x->journal, inline_max);
    return o;
}
