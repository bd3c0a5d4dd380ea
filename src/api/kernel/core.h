/* api/kernel/core.h — the private part of struct api. Runs in: keeper. */
#pragma once

#include "allowlist/allowlist.h"
#include "api/kernel/api.h"
#include "api/kernel/door.h"
#include "api/kernel/router.h"

struct api_core {
    struct router *router; /* of all routes but those behind doors */
    struct doors *doors;
    bool verifies_audit; /* a check of the audit log is in progress */
    struct buf openapi;
    struct { /* runs/fixes.c */
        struct run_aftermath aftermath;
        struct api *api;
    } fixes;
    struct allowlist_memo commands; /* the last allow-list */
    struct {                        /* storage.c; asked_ms: clock of the loop */
        uint64_t asked_ms, free;
        bool asked, known;
    } storage;
    struct { /* the answer of /v1/health; made_ms: clock of the loop */
        char body[2048];
        size_t len;
        int status;
        uint64_t made_ms;
        bool made;
    } health;
};

/* The routes of every surface; the last is NULL. */
extern const struct api_route *const api_tables[];
