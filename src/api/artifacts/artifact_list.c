/* GET /v1/artifacts: every artifact that the caller may see, without its text. */
#include <stdio.h>
#include <stdlib.h>

#include "api/kernel/job.h"
#include "run/result.h"
#include "store/artifact_rows.h"

struct artifact_listing {
    struct api_job job;
    int64_t before;
    const char *owner; /* of the call; NULL: every owner */
    struct artifact_rows rows;
};

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_listing *l = (struct artifact_listing *)job;
    return artifacts_list(db, l->before, l->owner, &l->rows, e);
}

static json_t *row_object(const struct artifact_row *r)
{
    return json_pack(
        "{s:s, s:s?, s:s, s:s, s:s, s:I, s:s?, s:o, s:o}", "id", r->id, "conversation_id",
        r->conversation, "title", r->title, "language", r->language, "artifact_type", r->type,
        "version", (json_int_t)r->version, "parent_artifact_id", r->parent, "created_at",
        result_time((uint64_t)r->created_ms), "updated_at", result_time((uint64_t)r->updated_ms));
}

static void list_done(struct store_job *job)
{
    struct artifact_listing *l = (struct artifact_listing *)job;
    json_t *list = json_array();
    char cursor[32] = "";
    for (size_t i = 0; i < l->rows.n; i++)
        (void)json_array_append_new(list, row_object(&l->rows.rows[i]));
    if (l->rows.n == ARTIFACTS_LISTED)
        (void)snprintf(cursor, sizeof cursor, "%lld",
                       (long long)l->rows.rows[ARTIFACTS_LISTED - 1].seq);
    json_t *o = json_pack("{s:o, s:s?}", "artifacts", list, "next_cursor",
                          cursor[0] ? cursor : NULL);
    if (job->err.code == ERR_NONE) {
        api_reply(l->job.call, 200, o);
    } else {
        json_decref(o);
        api_fail(l->job.call, &job->err, NULL);
    }
    artifact_rows_done(&l->rows);
    free(l);
}

static void list_artifacts(struct api_call *c)
{
    struct err e = { 0 };
    int64_t before = INT64_MAX;
    if (api_query_number(c, "cursor", 1, INT64_MAX, &before, &e)) {
        api_fail(c, &e, "cursor");
        return;
    }
    struct artifact_listing *l = api_job_new(c, sizeof *l, list_work, list_done);
    if (!l)
        return;
    bool all = c->who.scopes & (SCOPE_BIT(SCOPE_READ) | SCOPE_BIT(SCOPE_ADMIN));
    l->owner = all ? NULL : c->who.owner;
    l->before = before;
    api_job_read(&l->job);
}

static const struct api_field list_query[] = {
    { "cursor", FIELD_STRING, .help = "next_cursor of the previous page" },
    { 0 },
};
static const struct api_field row_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the artifact" },
    { "conversation_id", FIELD_STRING, OR_NULL, .help = "the conversation of the artifact" },
    { "title", FIELD_STRING, ALWAYS, .help = "the title" },
    { "language", FIELD_STRING, ALWAYS, .help = "as in the request" },
    { "artifact_type", FIELD_STRING, ALWAYS, .help = "such as code or html" },
    { "version", FIELD_INT, ALWAYS, .help = "the newest one" },
    { "parent_artifact_id", FIELD_STRING, OR_NULL, .help = "the artifact that it is a copy of" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time of the first version" },
    { "updated_at", FIELD_STRING, OR_NULL, .help = "time of the newest version" },
    { .schema = "ArtifactRow", .help = "An artifact without its text" },
};
static const struct api_field list_reply[] = {
    { "artifacts", FIELD_OBJECTS, ALWAYS, .fields = row_reply, .help = "newest first, up to 100" },
    { "next_cursor", FIELD_STRING, OR_NULL, .help = "for the next page; null at the end" },
    { .schema = "ArtifactList" },
};

const struct api_route artifact_list_routes[] = {
    { METHOD_GET, "/v1/artifacts", SCOPE_ANY, .query = list_query, .handle = list_artifacts,
      .summary = "All artifacts, newest first, without their text",
      .replies = REPLIES({ 200, .fields = list_reply }) },
    { 0 },
};
