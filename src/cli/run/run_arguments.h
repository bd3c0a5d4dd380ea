/* cli/run/run_arguments.h — the command line of `belljar run`.
 * An option that the API has, too, is a row of run_option_defs (spec/run_options.h) or limit_defs
 * (spec/limit.h). The others are rows in run_arguments.c. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/service_choice.h"
#include "network/policy.h"
#include "runtime/language.h"
#include "spec/isolation.h"
#include "spec/limit.h"
#include "spec/run_options.h"

/* HOST[:NAME] of --file, NAME[:HOST] of --out. */
struct file_pair {
    char *host;
    char *name;
};

struct run_arguments {
    const struct language *language; /* NULL: to be inferred */
    const char *file;                /* "-" is stdin */
    const char *code;                /* of -c; NULL: the program is a file */
    json_t *stages;          /* in place of a program; NULL: none (cli/run/stage_options.h) */
    const char *stages_file; /* of --stages; NULL: none */
    char *project; /* the path of the entry of a directory; NULL: the program is no directory */
    char **args;   /* NULL-terminated, points into argv */
    struct limits limits;
    limit_set limits_given; /* the others are defaults: ours, or those of the service */
    char **env;             /* K=V; NULL-terminated */
    struct file_pair *files, *outs;
    size_t n_files, n_outs;
    char **mount_roots, **mount_names; /* of --mount; NULL: none */
    char **mounts;                     /* the same, by run_mounts_check(): spec/mount.h */
    bool mount_secrets;
    const char *stdin_file;
    const char *template; /* of the service; NULL: none */
    struct service_choice service;
    bool full_network;    /* --network full */
    char **allow_net;     /* entries of a network list, NULL-terminated; NULL: none */
    char **allow_private; /* ranges of addresses, for a run without a service */
    char **inject;        /* HOST:HEADER=SECRET; NULL: none */
    /* of a run without a service, by run_network_take() */
    struct network_policy network;
    struct buf network_private; /* "10.0.0.0/8,192.0.2.7"; empty: none */
    struct buf network_grants;  /* network/inject.h: the caller is the operator */
    bool writable_root, json, local, no_diagnosis, strict;
    unsigned bench; /* --bench: the number of runs; 0: one, as usual */
    enum level level;
    struct run_options run_options;
};

/* All options of the command; returns their number. */
size_t run_arguments_rows(struct arg_row *out);
void run_arguments_init(void *arguments);
void run_arguments_done(struct run_arguments *o);
/* Adds a file of the caller, under the last part of its path. */
[[nodiscard]] int run_arguments_add_file(struct run_arguments *o, const char *path, struct err *e);
/* Checks options that depend on each other. run_arguments_take() does so, too. */
[[nodiscard]] int run_arguments_settle(struct run_arguments *o, struct err *e);
/* The operands: FILE, and after "--" the arguments of the program. */
[[nodiscard]] int run_arguments_take(struct run_arguments *o, int argc, char **argv, struct err *e);
