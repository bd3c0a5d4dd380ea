#include "api/runs/run_result.h"

#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

void run_add_streams(json_t *o, const struct journal *j, uint64_t inline_max)
{
    static const struct {
        enum journal_kind kind;
        const char *key, *cut_key;
    } streams[] = {
        { JOURNAL_STDOUT, "stdout", "stdout_cut" },
        { JOURNAL_STDERR, "stderr", "stderr_cut" },
    };
    for (int i = 0; i < 2; i++) {
        scoped(buf) bytes = { 0 };
        struct err e;
        if (journal_collect(j, streams[i].kind, inline_max, &bytes, &e))
            bytes.len = 0;
        /* A character cut in two would make the whole look like bytes. */
        bool cut = j->stream_bytes[streams[i].kind] > bytes.len;
        if (cut)
            bytes.len = text_whole(bytes.data, bytes.len);
        result_add_stream(o, streams[i].key, &bytes);
        if (cut)
            (void)json_object_set_new(o, streams[i].cut_key, json_true());
    }
}

json_t *run_result_object(const struct run *x, uint64_t inline_max)
{
    json_t *o = json_copy(x->result_json);
    if (o)
        run_add_streams(o, &x->journal, inline_max);
    return o;
}

json_t *run_row_object(const struct run_record *r)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "id", r->id,
                          "state", run_state_word(r->state), "language", r->language, "verdict",
                          r->verdict, "thread_id", r->thread, "artifact_id", r->artifact,
                          "batch_id", r->batch, "surface", r->surface, "key", r->key);
    json_put(o, "created_at", result_time((uint64_t)r->created_ms));
    json_put(o, "started_at", result_time((uint64_t)r->started_ms));
    json_put(o, "finished_at", result_time((uint64_t)r->finished_ms));
    json_t *usage = r->state == RUN_FINISHED
                        ? json_pack("{s:f, s:f, s:I}", "wall_ms", (double)r->wall_us / 1000,
                                    "cpu_ms", (double)r->cpu_us / 1000, "memory_peak_bytes",
                                    (json_int_t)r->memory_peak)
                        : json_null();
    json_put(o, "usage", usage);
    return o;
}
