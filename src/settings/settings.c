#include "settings/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/nearest.h"
#include "base/strv.h"
#include "base/text.h"
#include "base/units.h"
#include "network/address_set.h"
#include "network/preset.h"
#include "spec/mount.h"
#include "spec/permission.h"

#define KIB    (1ULL << 10)
#define MIB    (1ULL << 20)
#define GIB    (1ULL << 30)
#define SECOND 1000ULL
#define MINUTE (60 * SECOND)
#define DAY    (24ULL * 60 * MINUTE)

enum kind { KIND_COUNT, KIND_BYTES, KIND_MS, KIND_BOOL, KIND_LEVEL, KIND_WORD, KIND_TEXT };

struct setting {
    char key[40];
    enum kind kind;
    bool fixed; /* cannot change while the service runs */
    size_t offset;
    size_t size;            /* of a text */
    uint64_t min, max, def; /* of a number */
    const char *text;       /* default of a text or word */
    const char *const *words;
    const char *help;
};

#define NUMBER(key_, kind_, member, min_, max_, def_, help_)                         \
    {                                                                                \
        .key = (key_), .kind = (kind_), .offset = offsetof(struct settings, member), \
        .min = (min_), .max = (max_), .def = (def_), .help = (help_)                 \
    }
#define FIXED(key_, kind_, member, min_, max_, def_, help_)                          \
    {                                                                                \
        .key = (key_), .kind = (kind_), .offset = offsetof(struct settings, member), \
        .min = (min_), .max = (max_), .def = (def_), .help = (help_), .fixed = true  \
    }
#define TEXT(key_, kind_, fixed_, member, def_, words_, help_)                                \
    {                                                                                         \
        .key = (key_), .kind = (kind_), .fixed = (fixed_),                                    \
        .offset = offsetof(struct settings, member),                                          \
        .size = sizeof(((struct settings *)NULL)->member), .text = (def_), .words = (words_), \
        .help = (help_)                                                                       \
    }

#define DOOR(name, member, help_)                                                             \
    {                                                                                         \
        .key = "doors." name, .kind = KIND_BOOL, .offset = offsetof(struct settings, member), \
        .help = (help_)                                                                       \
    }

static const struct setting rows[] = {
    NUMBER("http.max_body", KIND_BYTES, http_max_body, KIB, GIB, 32 * MIB,
           "largest body of a request"),
    NUMBER("http.max_bodies", KIND_BYTES, http_max_bodies, MIB, 64 * GIB, 256 * MIB,
           "total of all incoming bodies"),
    NUMBER("http.max_connections", KIND_COUNT, http_max_connections, 1, 100000, 4096,
           "connections at a time; the longest idle one gives way to a new one"),
    NUMBER("http.head_timeout", KIND_MS, http_head_timeout, 100, 10 * MINUTE, 10 * SECOND,
           "time for a request's head, from its first byte to its last"),
    NUMBER("http.body_timeout", KIND_MS, http_body_timeout, 100, 10 * MINUTE, 30 * SECOND,
           "time for a body, plus one second for each 64k of it"),
    NUMBER("http.idle_timeout", KIND_MS, http_idle_timeout, 100, 60 * MINUTE, 75 * SECOND,
           "time between two requests of a connection"),
    NUMBER("http.write_timeout", KIND_MS, http_write_timeout, 100, 60 * MINUTE, 30 * SECOND,
           "time in which the client reads no byte of the answer"),
    TEXT("http.hosts", KIND_TEXT, false, http_hosts, "", NULL,
         "additional names in the Host header, with commas; * is any"),
    TEXT("http.origins", KIND_TEXT, false, http_origins, "", NULL,
         "origins of web pages that may call the service, with commas"),
    NUMBER("runs.max", KIND_COUNT, runs_max, 0, 1024, 0, "runs at a time; 0: 8 for each CPU"),
    NUMBER("runs.queue", KIND_COUNT, runs_queue, 0, 100000, 0,
           "waiting runs beyond runs.max; 0: a quarter of runs.max, and bursts of 128 more"),
    NUMBER("runs.max_per_key", KIND_COUNT, runs_max_per_key, 0, 1024, 0,
           "runs of one API key at a time; 0: runs.max"),
    NUMBER("runs.max_bytes", KIND_BYTES, runs_max_bytes, MIB, 64 * GIB, 512 * MIB,
           "total size of the programs of running and waiting runs; one API key gets half"),
    FIXED("runs.memory", KIND_BYTES, runs_memory, 0, 1024 * GIB, 0,
          "memory that all running runs are promised together; 0: three quarters of the machine's"),
    FIXED("runs.pids", KIND_COUNT, runs_pids, 0, 4194304, 0,
          "processes and threads that they are promised; 0: half of the kernel's maximum"),
    { .key = "runs.isolation",
      .kind = KIND_LEVEL,
      .fixed = true,
      .offset = offsetof(struct settings, isolation),
      .def = LEVEL_AUTO,
      .help = "auto, or exactly one level: jar, rootless, process" },
    NUMBER("pools.max", KIND_COUNT, pools_max, 0, 512, 64,
           "most waiting interpreters of a kind; 0: none, every start is cold"),
    NUMBER("pools.min", KIND_COUNT, pools_min, 0, 512, 2,
           "fewest waiting interpreters of a kind in use; half for a large kind"),
    NUMBER("pools.memory_floor", KIND_BYTES, pools_memory_floor, 0, 1024 * GIB, 0,
           "no interpreter waits with less memory available; 0: a tenth of it, up to 512m"),
    TEXT("pools.preload", KIND_TEXT, false, pools_preload,
         "python,python-std,python-data,node,bash,sqlite", NULL,
         "kinds booted at the start, with commas; all; or used: each at its first run"),
    NUMBER("pools.zygote_forks", KIND_COUNT, pools_zygote_forks, 1, 1000000000, 1000,
           "an interpreter is booted anew after so many forks"),
    NUMBER("pools.zygote_age", KIND_MS, pools_zygote_age, SECOND, 30 * DAY, 10 * MINUTE,
           "an interpreter is booted anew at this age"),
    TEXT("languages.dir", KIND_TEXT, true, languages_dir, "", NULL,
         "directory of NAME.lang files with further languages; empty: $BELLJAR_LANGUAGES, or "
         "/etc/belljar/languages.d"),
    NUMBER("sessions.max", KIND_COUNT, sessions_max, 0, 900, 256,
           "open sessions at a time; 0: none"),
    NUMBER("sessions.max_per_key", KIND_COUNT, sessions_max_per_key, 1, 900, 64,
           "open sessions of one API key"),
    NUMBER("sessions.memory_floor", KIND_BYTES, sessions_memory_floor, 0, 1024 * GIB, 256 * MIB,
           "no session begins with less memory available"),
    NUMBER("sessions.sleep_max_age", KIND_MS, sessions_sleep_max_age, MINUTE, 36500 * DAY, 30 * DAY,
           "a session that sleeps for longer ends"),
    NUMBER("templates.wait", KIND_MS, templates_wait, 1000, DAY, 2 * MINUTE,
           "a run that waits for longer for a template that is made anew fails"),
    NUMBER("images.max_bytes", KIND_BYTES, images_max_bytes, 0, 1024 * GIB, 16 * GIB,
           "size of all images of sessions on the disk: checkpoints, sleeping sessions, templates"),
    NUMBER("images.max_bytes_per_key", KIND_BYTES, images_max_bytes_per_key, 0, 1024 * GIB, 4 * GIB,
           "size of the images of one API key, and of all callers without a key"),
    TEXT("images.key_file", KIND_TEXT, true, images_key_file, "", NULL,
         "file with the keys that images are encrypted with; empty: they are not encrypted"),
    { .key = "images.compress",
      .kind = KIND_BOOL,
      .offset = offsetof(struct settings, images_compress),
      .def = 0,
      .help = "true: images of sessions that sleep are compressed" },
    NUMBER("batch.max_runs", KIND_COUNT, batch_max_runs, 1, 100000, 1000,
           "runs of one batch or comparison"),
    NUMBER("approvals.max", KIND_COUNT, approval_max, 1, 100000, 1000,
           "runs that wait for an approval at a time"),
    NUMBER("approvals.timeout", KIND_MS, approval_timeout, SECOND, 30 * DAY, 5 * MINUTE,
           "a run that waits longer for an approval is rejected"),
    TEXT("approvals.mode", KIND_WORD, false, approval_mode, "bypassPermissions", permission_modes,
         "permission mode of a run without one"),
    NUMBER("history.max_age", KIND_MS, history_max_age, MINUTE, 36500 * DAY, 30 * DAY,
           "age at which finished runs are removed"),
    NUMBER("history.max_bytes", KIND_BYTES, history_max_bytes, MIB, 1024 * GIB, GIB,
           "size of the history; the oldest runs of the key that uses most are removed first"),
    NUMBER("audit.seal_every", KIND_MS, audit_seal_every, SECOND, DAY, MINUTE,
           "the audit log is sealed this often, if it has grown"),
    NUMBER("audit.max_bytes", KIND_BYTES, audit_max_bytes, 16 * KIB, 1024 * GIB, GIB,
           "size of the audit log; the oldest sealed records are removed, which is on record"),
    NUMBER("audit.max_age", KIND_MS, audit_max_age, MINUTE, 36500 * DAY, 36500 * DAY,
           "age at which sealed audit records are removed, which is on record"),
    NUMBER("artifacts.max_bytes", KIND_BYTES, artifacts_max_bytes, MIB, 1024 * GIB, GIB,
           "size of all artifacts with their versions"),
    NUMBER("artifacts.max_bytes_per_key", KIND_BYTES, artifacts_max_bytes_per_key, MIB, 1024 * GIB,
           256 * MIB, "size of the artifacts of one API key"),
    NUMBER("storage.min_free", KIND_BYTES, storage_min_free, 0, 1024 * GIB, 64 * MIB,
           "new runs and artifacts are refused while the disk of STATE has less free"),
    NUMBER("compile.cache", KIND_BYTES, compile_cache, 0, 1024 * GIB, GIB,
           "size of the cache of compiled programs; the least recently used goes first; 0: in "
           "memory only"),
    TEXT("mounts.roots", KIND_TEXT, true, mount_roots, "", NULL,
         "directories that runs may mount read-only, with all beneath them, with commas; empty: "
         "none"),
    { .key = "mounts.secrets",
      .kind = KIND_BOOL,
      .offset = offsetof(struct settings, mount_secrets),
      .def = 0,
      .help = "true: a run may ask for files in its mounts that look like secrets" },
    TEXT("network.max", KIND_TEXT, true, network_max, "none", NULL,
         "the most that a run may reach: none, full, or hosts and presets with commas"),
    TEXT("network.keys", KIND_TEXT, false, network_keys, "", NULL,
         "the most that the runs of an API key may reach: KEY=HOST HOST, with ; between keys"),
    TEXT("network.private", KIND_TEXT, true, network_private, "", NULL,
         "private addresses and ranges that runs may reach, with commas; this machine's own only "
         "without a prefix"),
    TEXT("network.presets", KIND_TEXT, true, network_presets, "", NULL,
         "lists that requests name with @: NAME=HOST HOST, with ; between them"),
    TEXT("network.secrets", KIND_TEXT, true, network_secrets, "", NULL,
         "headers that runs get outside their jars: NAME=HOST HOST header:HEADER key:KEY, with ; "
         "between secrets"),
    TEXT("network.secrets_file", KIND_TEXT, true, network_secrets_file, "", NULL,
         "file of secrets, with lines NAME=VALUE; otherwise variables BELLJAR_SECRET_NAME"),
    { .key = "network.sni",
      .kind = KIND_BOOL,
      .fixed = true,
      .offset = offsetof(struct settings, network_sni),
      .def = 1,
      .help = "true: a connection that begins TLS for a name outside the list is reset" },
    { .key = "diagnosis.values",
      .kind = KIND_BOOL,
      .offset = offsetof(struct settings, diagnosis_values),
      .def = 1,
      .help = "true: the diagnosis of a failure has the values of variables" },
    TEXT("execute.workspace", KIND_TEXT, true, workspace, "", NULL,
         "directory of /execute; empty: $OUTPUT_DATA_PATH, or STATE/execute"),
    { .key = "execute.shared",
      .kind = KIND_BOOL,
      .offset = offsetof(struct settings, execute_shared),
      .def = 0,
      .help = "true: all API keys share the directory of /execute" },
    NUMBER("execute.memory", KIND_BYTES, execute_memory, 0, 1024 * GIB, 0,
           "memory limit of a program of /execute, up to limits.memory.max; 0: limits.memory"),
    NUMBER("execute.max_bytes", KIND_BYTES, execute_max_bytes, 0, 64 * MIB, 0,
           "bytes that /execute keeps for one API key; 0: half of limits.disk"),
    DOOR("mcp", doors_mcp, "on: /mcp speaks the Model Context Protocol"),
    DOOR("e2b", doors_e2b, "on: clients of E2B's SDKs are served"),
    TEXT("doors.e2b_domain", KIND_TEXT, false, doors_e2b_domain, "localhost", NULL,
         "ports of E2B's sandboxes are reached as PORT-ID.DOMAIN; empty: not at all"),
    DOOR("piston", doors_piston, "on: /api/v2 speaks the interface of Piston"),
    DOOR("judge0", doors_judge0, "on: /submissions speaks the interface of Judge0"),
    { .key = "debug",
      .kind = KIND_BOOL,
      .offset = offsetof(struct settings, debug),
      .def = 0,
      .help = "write more to the log" },
};
enum {
    ROWS = ARRAY_LEN(rows),
    LIMIT_ROWS = 2 * LIMIT_COUNT,
    SETTINGS = ROWS + LIMIT_ROWS + NETWORK_CAP_COUNT
};

static const enum kind kind_of_unit[] = {
    [UNIT_COUNT] = KIND_COUNT,
    [UNIT_BYTES] = KIND_BYTES,
    [UNIT_MS] = KIND_MS,
};

static struct setting cap_setting(size_t id)
{
    const struct network_cap_def *d = &network_cap_defs[id];
    struct setting s = { .kind = kind_of_unit[d->unit],
                         .fixed = true, /* the porter gets them at its start */
                         .offset = offsetof(struct settings, network_caps) + id * sizeof d->def,
                         .min = d->min,
                         .max = d->max,
                         .def = d->def,
                         .help = d->help };
    (void)snprintf(s.key, sizeof s.key, "network.%s", d->key);
    return s;
}

static struct setting limit_setting(size_t i)
{
    size_t id = i / 2;
    bool most = i % 2;
    const struct limit_def *d = &limit_defs[id];
    struct setting s = { .kind = kind_of_unit[d->unit],
                         .fixed = most, /* the warden gets them at its start */
                         .offset = (most ? offsetof(struct settings, limit_max)
                                         : offsetof(struct settings, limit_default)) +
                                   id * sizeof d->def,
                         .min = d->min,
                         .max = d->max,
                         .def = most ? d->service_max : d->def,
                         .help = most ? "highest value that a run may ask for" : d->help };
    (void)snprintf(s.key, sizeof s.key, "limits.%s%s", d->key, most ? ".max" : "");
    return s;
}

/* The rows above, then two for each limit, then one for each cap of the network. */
static struct setting setting_at(size_t i)
{
    return i < ROWS                ? rows[i]
           : i < ROWS + LIMIT_ROWS ? limit_setting(i - ROWS)
                                   : cap_setting(i - ROWS - LIMIT_ROWS);
}

static bool is_number(enum kind kind)
{
    return kind <= KIND_MS;
}

static enum unit_kind unit_of(enum kind kind)
{
    static const enum unit_kind units[] = { UNIT_COUNT, UNIT_BYTES, UNIT_MS };
    return units[kind];
}

static void *member(struct settings *s, const struct setting *row)
{
    return (char *)s + row->offset;
}

static const void *member_of(const struct settings *s, const struct setting *row)
{
    return (const char *)s + row->offset;
}

static size_t member_size(const struct setting *row)
{
    static const size_t sizes[] = {
        [KIND_COUNT] = sizeof(uint64_t),   [KIND_BYTES] = sizeof(uint64_t),
        [KIND_MS] = sizeof(uint64_t),      [KIND_BOOL] = sizeof(bool),
        [KIND_LEVEL] = sizeof(enum level),
    };
    return row->size > 0 ? row->size : sizes[row->kind];
}

struct settings settings_default(void)
{
    struct settings s = { 0 };
    for (size_t i = 0; i < SETTINGS; i++) {
        struct setting row = setting_at(i);
        if (is_number(row.kind))
            memcpy(member(&s, &row), &row.def, sizeof row.def);
        else if (row.kind == KIND_BOOL)
            *(bool *)member(&s, &row) = row.def != 0;
        else if (row.kind == KIND_LEVEL)
            *(enum level *)member(&s, &row) = (enum level)row.def;
        else if (row.text)
            (void)snprintf(member(&s, &row), row.size, "%s", row.text);
    }
    return s;
}

static int set_number(struct settings *s, const struct setting *row, const char *value,
                      const char *quoted, struct err *e)
{
    enum unit_kind unit = unit_of(row->kind);
    uint64_t n;
    char min[32], max[32];
    unit_format(unit, row->min, min, sizeof min);
    unit_format(unit, row->max, max, sizeof max);
    if (unit_parse(unit, value, &n))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is not %s, from %s to %s", row->key, quoted,
                       unit_accepted(unit), min, max);
    if (n < row->min || n > row->max)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s '%s' is out of bounds: expected a value from %s to %s", row->key, quoted,
                       min, max);
    memcpy(member(s, row), &n, sizeof n);
    return 0;
}

static int set_bool(struct settings *s, const struct setting *row, const char *value,
                    const char *quoted, struct err *e)
{
    bool on = strcmp(value, "true") == 0 || strcmp(value, "on") == 0;
    if (!on && strcmp(value, "false") != 0 && strcmp(value, "off") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s '%s' is not accepted: expected true or false (on and off are the same)",
                       row->key, quoted);
    memcpy(member(s, row), &on, sizeof on);
    return 0;
}

static int set_level(struct settings *s, const struct setting *row, const char *value,
                     const char *quoted, struct err *e)
{
    enum level level;
    if (level_parse(value, &level))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s '%s' is not a level: expected jar, rootless, process or auto", row->key,
                       quoted);
    memcpy(member(s, row), &level, sizeof level);
    return 0;
}

static int set_text(struct settings *s, const struct setting *row, const char *value,
                    const char *quoted, struct err *e)
{
    size_t n = strlen(value);
    if (n >= row->size)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is too long: at most %zu bytes are accepted",
                       row->key, quoted, row->size - 1);
    /* A value that does not fit on one line of a file could not be passed to the keeper. */
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)value[i] < ' ' || value[i] == 0x7F)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "%s '%s' contains a control character: one line of text is accepted",
                           row->key, quoted);
    if (n > 0 && (value[0] == ' ' || value[n - 1] == ' '))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' begins or ends with a space: remove it",
                       row->key, quoted);
    memset(member(s, row), 0, row->size);
    memcpy(member(s, row), value, n);
    return 0;
}

static int set_word(struct settings *s, const struct setting *row, const char *value,
                    const char *quoted, struct err *e)
{
    char known[120] = "";
    for (const char *const *w = row->words; *w; w++) {
        if (strcmp(*w, value) == 0)
            return set_text(s, row, value, quoted, e);
        size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", *w);
    }
    return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is not accepted: expected one of %s", row->key,
                   quoted, known);
}

static int refuse_key(const char *key, struct err *e)
{
    struct nearest near = { .wanted = key };
    for (size_t i = 0; i < SETTINGS; i++) {
        struct setting row = setting_at(i);
        const char *last = strchr(row.key, '.');
        nearest_offer(&near, row.key);
        if (last && strcmp(last + 1, key) == 0) { /* the key without its group */
            near.distance = 0;
            (void)snprintf(near.name, sizeof near.name, "%s", row.key);
        }
    }
    if (near.name[0])
        return err_set(e, ERR_BAD_REQUEST, 0, "there is no setting '%s': did you mean '%s'?",
                       QUOTED(key), near.name);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "there is no setting '%s': 'belljar serve --help' lists them", QUOTED(key));
}

int settings_set(struct settings *s, const char *key, const char *value, struct err *e)
{
    static int (*const set[])(struct settings *, const struct setting *, const char *, const char *,
                              struct err *) = {
        [KIND_COUNT] = set_number, [KIND_BYTES] = set_number, [KIND_MS] = set_number,
        [KIND_BOOL] = set_bool,    [KIND_LEVEL] = set_level,  [KIND_WORD] = set_word,
        [KIND_TEXT] = set_text,
    };
    for (size_t i = 0; i < SETTINGS; i++) {
        struct setting row = setting_at(i);
        if (strcmp(row.key, key) == 0)
            return set[row.kind](s, &row, value, QUOTED(value), e);
    }
    return refuse_key(key, e);
}

enum { LINE_MAX_BYTES = SETTING_TEXT_MAX + 128 };

static int set_line(struct settings *s, const char *text, size_t len, struct err *e)
{
    char line[LINE_MAX_BYTES], quoted[96];
    if (len >= sizeof line || memchr(text, '\0', len))
        return err_set(e, ERR_BAD_REQUEST, 0, "is not a line of text of at most %d bytes",
                       LINE_MAX_BYTES - 1);
    memcpy(line, text, len);
    line[len] = '\0';
    char *key = text_trim(line);
    if (*key == '\0' || *key == '#')
        return 0;
    char *equals = strchr(key, '=');
    if (!equals)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not a setting: expected 'key = value'",
                       text_quote(key, quoted, sizeof quoted));
    *equals = '\0';
    return settings_set(s, text_trim(key), text_trim(equals + 1), e);
}

int settings_set_pair(struct settings *s, const char *pair, struct err *e)
{
    if (!strchr(pair, '='))
        return err_set(e, ERR_BAD_REQUEST, 0, "--set '%s' is not a setting: expected key=value",
                       QUOTED(pair));
    return set_line(s, pair, strlen(pair), e);
}

int settings_parse(struct settings *s, const char *name, const char *text, size_t len,
                   struct err *e)
{
    struct settings all = *s;
    unsigned number = 1;
    for (const char *at = text, *end = text + len; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (set_line(&all, at, (size_t)(stop - at), e))
            return err_wrap(e, "%s line %u", QUOTED(name), number);
        at = newline ? newline + 1 : end;
    }
    *s = all;
    return 0;
}

int settings_network_max(const struct settings *s, struct network_policy *ret, struct err *e)
{
    return network_policy_parse(s->network_max, s->network_presets, &s->network_caps, ret, e)
               ? err_wrap(e, "network.max")
               : 0;
}

static int check_network(const struct settings *s, struct err *e)
{
    scoped(network_policy) most = { 0 };
    scoped(address_set) private_ranges = { 0 };
    if (network_presets_check(s->network_presets, e))
        return err_wrap(e, "network.presets");
    if (network_keys_check(s->network_keys, s->network_presets, e))
        return err_wrap(e, "network.keys");
    if (address_set_parse(s->network_private, &private_ranges, e))
        return err_wrap(e, "network.private");
    if (network_secrets_check(s->network_secrets, e))
        return err_wrap(e, "network.secrets");
    return settings_network_max(s, &most, e);
}

int settings_mount_roots(const struct settings *s, char ***ret, struct err *e)
{
    char **roots = NULL;
    const char *at = s->mount_roots;
    size_t n = 0;
    for (*ret = NULL; *at;) {
        char path[SETTING_TEXT_MAX];
        size_t len = strcspn(at, ",");
        const char *next = at + len + (at[len] == ',');
        for (; len > 0 && *at == ' '; len--)
            at++;
        while (len > 0 && at[len - 1] == ' ')
            len--;
        (void)snprintf(path, sizeof path, "%.*s", (int)len, at);
        at = next;
        int failed = mount_path_check(path, e) ? err_wrap(e, "mounts.roots") : 0;
        if (!failed && ++n > MOUNT_ROOTS_MAX)
            failed = err_set(e, ERR_BAD_REQUEST, 0,
                             "mounts.roots has too many directories: up to %d are accepted",
                             MOUNT_ROOTS_MAX);
        if (failed || strv_add(&roots, path, e)) {
            strv_free(roots);
            return -1;
        }
    }
    *ret = roots;
    return 0;
}

int settings_check(const struct settings *s, struct err *e)
{
    char **roots = NULL;
    if (check_network(s, e) || settings_mount_roots(s, &roots, e))
        return -1;
    strv_free(roots);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        char value[32], max[32];
        if (s->limit_default.v[i] > s->limit_max.v[i])
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "limits.%s '%s' is above limits.%s.max '%s': lower the one or raise the "
                           "other",
                           d->key, unit_format(d->unit, s->limit_default.v[i], value, sizeof value),
                           d->key, unit_format(d->unit, s->limit_max.v[i], max, sizeof max));
    }
    return 0;
}

/* Prints a value as in a file. */
static const char *format(const struct settings *s, const struct setting *row, char *out,
                          size_t size)
{
    const void *at = member_of(s, row);
    uint64_t n;
    switch (row->kind) {
    case KIND_TEXT:
    case KIND_WORD:
        return at;
    case KIND_BOOL:
        return *(const bool *)at ? "true" : "false";
    case KIND_LEVEL:
        return level_name(*(const enum level *)at);
    default:
        memcpy(&n, at, sizeof n);
        return unit_format(unit_of(row->kind), n, out, size);
    }
}

int settings_write(const struct settings *s, struct buf *b, struct err *e)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        struct setting row = setting_at(i);
        char value[32];
        if (buf_addf(b, e, "%s = %s\n", row.key, format(s, &row, value, sizeof value)))
            return -1;
    }
    return 0;
}

bool settings_describe(size_t i, struct setting_text *ret)
{
    static const char *const metavars[] = {
        [KIND_COUNT] = "N",     [KIND_BYTES] = "SIZE", [KIND_MS] = "DUR",    [KIND_BOOL] = "BOOL",
        [KIND_LEVEL] = "LEVEL", [KIND_WORD] = "WORD",  [KIND_TEXT] = "TEXT",
    };
    if (i >= SETTINGS)
        return false;
    struct settings def = settings_default();
    struct setting row = setting_at(i);
    char value[32];
    *ret = (struct setting_text){ .metavar = metavars[row.kind],
                                  .help = row.help,
                                  .fixed = row.fixed };
    (void)snprintf(ret->key, sizeof ret->key, "%s", row.key);
    (void)snprintf(ret->default_text, sizeof ret->default_text, "%s",
                   format(&def, &row, value, sizeof value));
    return true;
}

void settings_keep_fixed(struct settings *s, const struct settings *running, char *ret_kept,
                         size_t size)
{
    size_t used = 0;
    ret_kept[0] = '\0';
    for (size_t i = 0; i < SETTINGS; i++) {
        struct setting row = setting_at(i);
        size_t n = member_size(&row);
        if (!row.fixed || memcmp(member(s, &row), member_of(running, &row), n) == 0)
            continue;
        memcpy(member(s, &row), member_of(running, &row), n);
        used = strlen(ret_kept);
        (void)snprintf(ret_kept + used, size - used, "%s%s", used ? "," : "", row.key);
    }
}

uint64_t settings_runs_max(const struct settings *s)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t own = 8 * (uint64_t)(cpus > 0 ? cpus : 1);
    uint64_t max = s->runs_max > 0 ? s->runs_max : own;
    return max < 1024 ? max : 1024;
}

uint64_t settings_runs_queue(const struct settings *s)
{
    uint64_t quarter = (settings_runs_max(s) + 3) / 4;
    return s->runs_queue > 0 ? s->runs_queue : quarter;
}

uint64_t settings_runs_burst(const struct settings *s)
{
    return s->runs_queue > 0 ? 0 : 128; /* an explicit number gets no addition */
}

uint64_t settings_runs_max_per_key(const struct settings *s)
{
    return s->runs_max_per_key > 0 ? s->runs_max_per_key : settings_runs_max(s);
}

static struct limits larger(const struct limits *a, const struct limits *b)
{
    struct limits l;
    for (int i = 0; i < LIMIT_COUNT; i++)
        l.v[i] = a->v[i] > b->v[i] ? a->v[i] : b->v[i];
    return l;
}

/* Never less than the defaults of one run and one compiler: a small machine runs one at a time. */
static uint64_t at_least_one_run(const struct settings *s, enum limit_id id, uint64_t value)
{
    struct limits compiler = compile_limits_default(), one = larger(&s->limit_default, &compiler);
    return value > one.v[id] ? value : one.v[id];
}

uint64_t settings_runs_memory(const struct settings *s)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t machine = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 4 * GIB;
    return s->runs_memory > 0 ? s->runs_memory : at_least_one_run(s, LIMIT_MEMORY, machine / 4 * 3);
}

uint64_t settings_runs_pids(const struct settings *s)
{
    char text[32];
    ssize_t n = fd_read_file(AT_FDCWD, "/proc/sys/kernel/pid_max", text, sizeof text);
    uint64_t machine = n > 0 ? strtoull(text, NULL, 10) : 32768;
    return s->runs_pids > 0 ? s->runs_pids : at_least_one_run(s, LIMIT_PIDS, machine / 2);
}

struct run_bounds settings_run_bounds(const struct settings *s)
{
    struct limits compiler = compile_limits_default();
    uint64_t memory = settings_runs_memory(s), pids = settings_runs_pids(s);
    return (struct run_bounds){ .most = larger(&s->limit_max, &compiler),
                                .memory = memory + memory / 8,
                                .pids = pids + pids / 8,
                                .terminals = s->doors_e2b };
}
