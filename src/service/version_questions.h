/* service/version_questions.h — asks languages for their versions, on behalf of each keeper. Runs in:
 * supervisor.
 *
 * VERSION_QUESTIONS-1 The programs that are asked have the rights of the operator, and none of them is
 *                     a guest's file. The supervisor waits for a few of them only before it serves.
 * VERSION_QUESTIONS-2 One of the others runs at a time, and for ten seconds at most. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>

#include "runtime/version.h"

struct version_questions {
    char versions[LANGUAGES_MAX][VERSION_SIZE]; /* of languages that have answered already */
    struct version_probe probes[LANGUAGES_MAX]; /* of the latest keeper */
    int answers[LANGUAGES_MAX];                 /* for the keeper to read; -1: none follows */
    uint64_t kill_ms;              /* when the program that runs is killed; 0: none, or it was */
    uint64_t look_ms;              /* the next look for languages */
    bool asked[LANGUAGES_MAX];     /* the keeper has, or expects, its version */
    unsigned looks[LANGUAGES_MAX]; /* at a language that was installed later */
};
void version_questions_init(struct version_questions *q);
void version_questions_done(struct version_questions *q);

/* Before there is a keeper: waits for the languages that are booted in advance. */
void version_questions_ask_first(struct version_questions *q);

/* For a new keeper, before it is forked, and in the supervisor after that. */
void version_questions_open(struct version_questions *q);
void version_questions_leave(struct version_questions *q);

/* Once the keeper serves, and when the program before has ended. */
void version_questions_next(struct version_questions *q);
void version_questions_on_exit(struct version_questions *q, const siginfo_t *info);
void version_questions_end(struct version_questions *q);

/* At look_ms: hands over an answer for each language that was installed meanwhile. */
void version_questions_look(struct version_questions *q, int control_fd);
