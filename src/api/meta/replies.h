/* api/meta/replies.h — what answers look like: tables as for requests, for the OpenAPI document and for the tests that hold real
 * answers against them. Pure data. */
#pragma once

#include "api/kernel/api.h"

/* A row that is `required` is always there; one that is `nullable` may be null. */
extern const struct api_field usage_reply[];
/* replies_diagnosis.c */
extern const struct api_field diagnosis_reply[], diagnosed_reply[], debug_report_reply[];
extern const struct api_field result_reply[], run_state_reply[], run_row_reply[], run_list_reply[],
    run_accepted_reply[], stdin_reply[], files_reply[], event_reply[], batch_reply[],
    batch_event_reply[], batch_runs_reply[], comparison_reply[], comparison_event_reply[],
    approval_reply[], approval_list_reply[], rule_reply[], rule_list_reply[],
    pending_approval_reply[], thread_state_reply[], interrupt_reply[], artifact_reply[],
    detected_reply[], execution_reply[], execute_reply[], status_reply[], key_reply[],
    new_key_reply[], key_list_reply[], key_removed_reply[], language_reply[], health_reply[],
    stats_reply[], pool_reply[], error_reply[], detail_reply[];

/* The schemas of the document, by name; the last has none. */
struct reply_schema {
    const char *name;
    const struct api_field *fields;
    const struct api_field *with; /* rows that may be there besides; or NULL */
    const char *help;
};
extern const struct reply_schema reply_schemas[];

/* How a route answers that it went well. A route has a row for each status, and for each content type of a status; the last
 * row has no path. */
struct route_reply {
    enum http_method method;
    const char *path; /* as the route has it */
    int status;
    const struct api_field *fields; /* of JSON, or of each event */
    const char *content_type;       /* NULL: JSON, or nothing at all without fields */
    bool list;                      /* an array of those */
    const char *help;
};
extern const struct route_reply route_replies[];
