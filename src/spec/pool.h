/* spec/pool.h — kinds of zygotes, and the state of their pools. Pure data: the runtime room
 * declares the kinds, the keeper sets targets, the warden reports states. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spec/limit.h"

enum { ZYGOTE_KINDS_MAX = 20 };

struct zygote_def {
    const char *name; /* such as "python-data", in settings, metrics and logs */
    /* Beside our program or in our library directory; visible only to the zygote, in ZYGOTE_DIR.
     * The first is the driver, which is preloaded. NULL-terminated, as all lists here. */
    const char *const *files;
    const char *const *argv; /* argv[0] is the path of the interpreter inside */
    /* K=V besides the usual variables, only for the boot: a job has its own environment. */
    const char *const *env;
    /* Its embryos work for a while before they wait: they get a small share of the CPUs. */
    bool heavy;
    bool no_sockets; /* its embryos run jobs with JOB_NO_SOCKETS, and no others */
    bool terminals;  /* its embryos have pseudo-terminals, if sessions have them */
    bool tells;      /* its embryos have a slate (jar/slate.c) */
};

#define ZYGOTE_DIR "/tmp/belljar"

/* How a program was started. */
#define START_TABLE(X)                                                             \
    X(START_COLD,    "cold")    /* a new process of the interpreter */           \
    X(START_HATCHED, "hatched") /* an embryo forked for it */        \
    X(START_WARM,    "warm")    /* an embryo that was waiting */

enum start {
#define X(id, word) id,
    START_TABLE(X)
#undef X
        START_COUNT_
};
const char *start_word(enum start s);

/* The embryos that the keeper wants ready, for each kind. Kinds count from 1: kind k is entry k -
 * 1. */
struct pool_targets {
    struct {
        bool on;        /* keep a zygote; without one every start is cold */
        uint32_t ready; /* waiting embryos */
    } kinds[ZYGOTE_KINDS_MAX];
    struct limits limits;   /* of new embryos; a job with other limits costs a little more */
    uint64_t zygote_forks;  /* a zygote is replaced after so many forks */
    uint64_t zygote_age_ms; /* or at this age */
};

enum zygote_state { ZYGOTE_OFF, ZYGOTE_BOOTING, ZYGOTE_UP, ZYGOTE_FAILED, ZYGOTE_STATES_ };
extern const char *const zygote_state_words[ZYGOTE_STATES_ + 1]; /* the last is NULL */
const char *zygote_state_word(enum zygote_state s); /* "off", "booting", "up", "failed" */

/* The pool of one kind; counts are since the start of the warden. */
struct pool_state {
    enum zygote_state zygote;
    uint32_t ready, building;
    uint64_t starts[START_COUNT_]; /* of programs of this kind */
    uint64_t forks;                /* of all zygotes of this kind */
    uint64_t zygotes, deaths;      /* started; died by themselves */
    uint64_t discarded;            /* embryos that never got a job */
    char why[120];                 /* the error, if ZYGOTE_FAILED; otherwise "" */
};

enum { POOL_EMBRYOS_MAX = 512 }; /* of all kinds together; more than any target */
