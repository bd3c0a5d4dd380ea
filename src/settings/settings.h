/* settings/settings.h — every setting of the service: one table with type, default, bounds and help.
 * Runs in: supervisor (which reads the file), keeper (which is handed the text). Pure data and parsing.
 * A row feeds the config file, --set, SIGHUP, `belljar serve --help` and the documentation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "spec/isolation.h"
#include "spec/limit.h"

enum { SETTING_TEXT_MAX = 1024, SETTINGS_LISTEN_MAX = 16 };

struct settings {
    /* server */
    uint64_t http_max_body, http_max_bodies, http_max_connections, http_head_timeout,
        http_body_timeout, http_idle_timeout, http_write_timeout;
    char http_hosts
        [SETTING_TEXT_MAX]; /* further names in Host that are ours, comma-separated; "*" is any */
    char http_origins[SETTING_TEXT_MAX]; /* origins of pages that may call, comma-separated */
    /* admission */
    uint64_t runs_max;         /* at a time; 0: 8 for each CPU */
    uint64_t runs_queue;       /* waiting beyond; 0: a quarter of runs_max, and bursts */
    uint64_t runs_max_per_key; /* 0: runs_max */
    uint64_t runs_max_bytes;   /* programs of all that run or wait */
    uint64_t batch_max_runs;   /* of one batch or comparison */
    enum level isolation;      /* "auto", or exactly this one */
    struct limits limit_default,
        limit_max; /* limits.KEY and limits.KEY.max, for every row of limit_defs */
    /* warm starts */
    uint64_t pools_max, pools_min; /* embryos of one kind; max 0: no warm starts */
    uint64_t pools_memory_floor;   /* 0: a tenth of the memory, 512m at most */
    char pools_preload[256];       /* engine/pools/pools.h */
    uint64_t pools_zygote_forks, pools_zygote_age;
    char languages_dir
        [SETTING_TEXT_MAX]; /* "": $BELLJAR_LANGUAGES, else DROPINS_DIR if it is there */
    /* approvals */
    uint64_t approval_max;     /* runs that wait for one */
    uint64_t approval_timeout; /* then the answer is no */
    char approval_mode[32];    /* of a run that names none */
    /* store */
    uint64_t history_max_age, history_max_bytes;
    uint64_t compile_cache;
    /* /execute */
    char workspace[SETTING_TEXT_MAX]; /* "": $OUTPUT_DATA_PATH, else output_data */
    bool debug;
};

struct settings settings_default(void);
/* "key" and "value" as text. Refuses unknown keys, naming near ones, and values out of bounds, naming the bounds. */
[[nodiscard]] int settings_set(struct settings *s, const char *key, const char *value,
                               struct err *e);
/* "key=value" of --set. */
[[nodiscard]] int settings_set_pair(struct settings *s, const char *pair, struct err *e);
/* A file of "key = value" lines, '#' comments. Errors name `name` and the line. All or nothing. */
[[nodiscard]] int settings_parse(struct settings *s, const char *name, const char *text, size_t len,
                                 struct err *e);
/* What no setting can tell by itself: no default above its maximum. For when all have been set. */
[[nodiscard]] int settings_check(const struct settings *s, struct err *e);
/* Every setting as a line of such a file, so that it can be handed to another process and parsed there. */
[[nodiscard]] int settings_write(const struct settings *s, struct buf *b, struct err *e);
/* "  runs.max  N   help (default)" lines. */
[[nodiscard]] int settings_help(struct buf *b, struct err *e);
/* Puts back what cannot change while the service runs; ret_kept names those that differed, with commas. */
void settings_keep_fixed(struct settings *s, const struct settings *running, char *ret_kept,
                         size_t size);
/* With 0 replaced by what it stands for on this machine. */
uint64_t settings_runs_max(const struct settings *s);
uint64_t settings_runs_queue(const struct settings *s);
uint64_t settings_runs_burst(const struct settings *s); /* further ones that come at once */
uint64_t settings_runs_max_per_key(const struct settings *s);
