/* spec/pool.h — an interpreter that is booted once and forked into jars. Pure data: runtime declares, warden obeys. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spec/limit.h"

enum { ZYGOTE_KINDS_MAX = 16 };

struct zygote_def {
    const char *name; /* "python", "python-data": in settings, metrics and logs */
    /* Found beside our program or in our library directory, and seen by the zygote alone, in ZYGOTE_DIR. The first is the
     * driver, which is preloaded. NULL-terminated, as all lists here. */
    const char *const *files;
    const char *const *argv; /* argv[0] is the interpreter's path inside */
    /* K=V beyond what every program gets; for the boot alone, a job brings its own. */
    const char *const *env;
    /* Its embryos work for a while before they wait: at the bottom of the line for the CPUs. */
    bool heavy;
};

#define ZYGOTE_DIR "/tmp/belljar"

/* How a program came to run. */
#define START_TABLE(X)                                                             \
    X(START_COLD,    "cold")    /* the interpreter was started for it */           \
    X(START_HATCHED, "hatched") /* forked for it, into a jar made for it */        \
    X(START_WARM,    "warm")    /* it waited, in a jar that was ready */

enum start {
#define X(id, word) id,
    START_TABLE(X)
#undef X
        START_COUNT_
};
const char *start_word(enum start s);

/* What the keeper wants to have ready of each kind; kind k is entry k - 1. */
struct pool_targets {
    struct {
        bool on;        /* a zygote is kept; without it every start is cold */
        uint32_t ready; /* embryos that wait */
    } kinds[ZYGOTE_KINDS_MAX];
    struct limits
        limits; /* what embryos are made with: a job that asks for others costs a little more */
    uint64_t zygote_forks;  /* a zygote is made anew after so many */
    uint64_t zygote_age_ms; /* and at this age */
};

enum zygote_state { ZYGOTE_OFF, ZYGOTE_BOOTING, ZYGOTE_UP, ZYGOTE_FAILED, ZYGOTE_STATES_ };
extern const char *const zygote_state_words[ZYGOTE_STATES_ + 1]; /* the last is NULL */
const char *zygote_state_word(enum zygote_state s); /* "off", "booting", "up", "failed" */

/* What there is of one kind, since the warden began. */
struct pool_state {
    enum zygote_state zygote;
    uint32_t ready, building;
    uint64_t starts[START_COUNT_]; /* programs that asked for this kind, by what they got */
    uint64_t forks;                /* of all its zygotes */
    uint64_t zygotes, deaths;      /* made; ended without our asking */
    uint64_t discarded;            /* embryos that were never used: too old, or dead */
    char why[120];                 /* what is wrong, when it is ZYGOTE_FAILED; else "" */
};

enum { POOL_EMBRYOS_MAX = 512 }; /* of all kinds together, whatever the targets say */
