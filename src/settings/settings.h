/* settings/settings.h — every setting of the service: one table with type, default, bounds and
 * help. Runs in: supervisor (which reads the file), keeper (which gets the text). Pure data and
 * parsing. A row feeds the config file, --set, SIGHUP, `belljar serve --help` and the table in
 * docs/service.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "network/policy.h"
#include "spec/isolation.h"
#include "spec/limit.h"

enum { SETTING_TEXT_MAX = 1024, SETTINGS_LISTEN_MAX = 16 };

struct settings {
    /* server */
    uint64_t http_max_body, http_max_bodies, http_max_connections, http_head_timeout,
        http_body_timeout, http_idle_timeout, http_write_timeout;
    /* additional accepted names in Host, comma-separated; "*" is any */
    char http_hosts[SETTING_TEXT_MAX];
    char http_origins[SETTING_TEXT_MAX]; /* origins of web pages that may call, comma-separated */
    /* admission */
    uint64_t runs_max;         /* at a time; 0: 8 for each CPU */
    uint64_t runs_queue;       /* waiting beyond runs_max; 0: a quarter of runs_max, and bursts */
    uint64_t runs_max_per_key; /* 0: runs_max */
    uint64_t runs_max_bytes;   /* programs of all running and waiting runs */
    uint64_t runs_memory; /* promised to all running runs; 0: three quarters of the machine's */
    uint64_t runs_pids;   /* the same for processes; 0: half of the kernel's maximum */
    uint64_t sessions_max, sessions_max_per_key;
    uint64_t sessions_sleep_max_age;
    uint64_t templates_wait;        /* of a run for the image of its template */
    uint64_t sessions_memory_floor; /* no session begins with less memory available */
    uint64_t images_max_bytes, images_max_bytes_per_key;
    char images_key_file[SETTING_TEXT_MAX]; /* "": images are not encrypted */
    bool images_compress;
    uint64_t batch_max_runs; /* of one batch or comparison */
    enum level isolation;    /* "auto", or exactly this level */
    struct limits limit_default,
        limit_max; /* limits.KEY and limits.KEY.max, for every row of limit_defs */
    /* warm starts */
    uint64_t pools_max, pools_min; /* embryos of one kind; max 0: no warm starts */
    uint64_t pools_memory_floor;   /* 0: a tenth of the memory, 512m at most */
    char pools_preload[256];       /* engine/pools/pools.h */
    uint64_t pools_zygote_forks, pools_zygote_age;
    /* "": $BELLJAR_LANGUAGES, else DROPINS_DIR if it exists */
    char languages_dir[SETTING_TEXT_MAX];
    /* approvals */
    uint64_t approval_max;     /* runs that wait for an approval */
    uint64_t approval_timeout; /* then the run is rejected */
    char approval_mode[32];    /* of a run without a mode */
    /* mounts */
    char mount_roots[SETTING_TEXT_MAX]; /* directories, comma-separated: spec/mount.h */
    bool mount_secrets;                 /* a run may ask for files that look like secrets */
    /* network */
    char network_max[SETTING_TEXT_MAX];          /* "none", "full", or entries of a list */
    char network_keys[SETTING_TEXT_MAX];         /* maxima of API keys: network/preset.h */
    char network_private[SETTING_TEXT_MAX];      /* network/address_set.h */
    char network_presets[SETTING_TEXT_MAX];      /* network/preset.h */
    char network_secrets[SETTING_TEXT_MAX];      /* grants: network/inject.h */
    char network_secrets_file[SETTING_TEXT_MAX]; /* lines NAME=VALUE; "": none */
    bool network_sni;                 /* TLS for a name that is not in the list is reset */
    struct network_caps network_caps; /* network.KEY, for every row of network_cap_defs */
    bool diagnosis_values;            /* a diagnosis has values of variables */
    /* store */
    uint64_t history_max_age, history_max_bytes;
    uint64_t audit_seal_every, audit_max_bytes, audit_max_age;
    uint64_t artifacts_max_bytes, artifacts_max_bytes_per_key;
    uint64_t compile_cache;
    uint64_t storage_min_free;
    /* /execute */
    char workspace[SETTING_TEXT_MAX]; /* "": $OUTPUT_DATA_PATH, else STATE/execute */
    bool execute_shared;              /* every key uses the same directory */
    uint64_t execute_memory;          /* limit of a program of /execute; 0: limits.memory */
    uint64_t execute_max_bytes;       /* that one key keeps; 0: half of the disk limit */
    /* doors: interfaces of other products (api/doors) */
    bool doors_mcp, doors_e2b, doors_piston, doors_judge0;
    char doors_e2b_domain[SETTING_TEXT_MAX]; /* ports of sandboxes are PORT-ID.DOMAIN; "": none */
    bool debug;
};

struct settings settings_default(void);
/* Sets one key from text. Refuses unknown keys with a similar one, and values out of bounds with
 * the bounds. */
[[nodiscard]] int settings_set(struct settings *s, const char *key, const char *value,
                               struct err *e);
/* "key=value" of --set. */
[[nodiscard]] int settings_set_pair(struct settings *s, const char *pair, struct err *e);
/* Reads a file of "key = value" lines with '#' comments, all or nothing. Errors name `name` and the
 * line. */
[[nodiscard]] int settings_parse(struct settings *s, const char *name, const char *text, size_t len,
                                 struct err *e);
/* Checks that need all settings: no default above its maximum, and the network lists. */
[[nodiscard]] int settings_check(const struct settings *s, struct err *e);
/* Writes every setting as a line of such a file, for another process to parse. */
[[nodiscard]] int settings_write(const struct settings *s, struct buf *b, struct err *e);
/* A setting as --help and the man page show it. */
struct setting_text {
    char key[40];
    const char *metavar, *help;
    char default_text[64]; /* "": none */
    bool fixed;            /* it cannot change while the service runs */
};
/* The i-th setting; false past the last one. */
bool settings_describe(size_t i, struct setting_text *ret);
/* Restores the settings that cannot change while the service runs. ret_kept lists the ones that
 * differed, with commas. */
void settings_keep_fixed(struct settings *s, const struct settings *running, char *ret_kept,
                         size_t size);
/* With 0 replaced by its meaning on this machine. */
uint64_t settings_runs_max(const struct settings *s);
uint64_t settings_runs_queue(const struct settings *s);
uint64_t settings_runs_burst(const struct settings *s); /* additional runs that arrive at once */
uint64_t settings_runs_max_per_key(const struct settings *s);
uint64_t settings_runs_memory(const struct settings *s);
uint64_t settings_runs_pids(const struct settings *s);
/* network.max as a policy. It was checked by settings_check(). */
[[nodiscard]] int settings_network_max(const struct settings *s, struct network_policy *ret,
                                       struct err *e);
/* mounts.roots as a list on the heap; NULL in *ret: there are none. */
[[nodiscard]] int settings_mount_roots(const struct settings *s, char ***ret, struct err *e);
/* For the warden. Jars that wait for a job get an eighth on top of the memory of all runs. */
struct run_bounds settings_run_bounds(const struct settings *s);
