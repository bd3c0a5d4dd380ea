/* bench/images_sleepers.c — a service with a thousand sleeping sessions, in turns with one that has
 * none. The rows are copies of one session that fell asleep, and the files are links to its image. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/id.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/session_bench.h"
#include "store/image_rows.h"
#include "store/session_rows.h"

enum { SLEEPERS = 1000 };

struct sleepers_side {
    const char *name;
    struct series ms;
    double keeper_mib;
    size_t processes;
};

static void make_one(struct bench *b, const char *name, bool sleeps)
{
    struct bench_service s;
    struct bench_session session = { 0 };
    char path[96];
    json_t *answer;
    service_start(&s, &b->site, name, SERVICE_WARM, NULL);
    struct load_client *v = load_client_new(s.port);
    (void)bench_session_new(v, "bash", &session);
    (void)bench_session_cell(v, &session, "{\"code\": \"mine=5\"}", NULL);
    (void)snprintf(path, sizeof path, "%s/sleep", session.path);
    if (sleeps) {
        (void)load_client_ask(v, "POST", path, "{}", &answer);
        json_decref(answer);
    } else {
        bench_session_end(v, &session);
    }
    load_client_free(v);
    service_stop(&s);
}

static int add_copy(struct db *db, int dir_fd, const struct session_row *session,
                    const struct image_row *image, char ret_id[ID_SIZE], struct err *e)
{
    char image_id[ID_SIZE];
    struct session_row s = *session; /* they borrow their texts */
    struct image_row i = *image;
    id_make("ses_", ret_id);
    id_make("img_", image_id);
    s.id = i.session = ret_id;
    s.image = i.id = image_id;
    if (linkat(dir_fd, image->id, dir_fd, image_id, 0) < 0)
        return err_set(e, ERR_KERNEL, 0, "link an image");
    return sessions_insert(db, &s, e) || images_insert(db, &i, e) || sessions_set_image(db, &s, e);
}

/* While no service uses the database. Returns the id of the last one. */
static void multiply(const char *data, char ret_id[ID_SIZE])
{
    struct err e = { 0 };
    struct db *db;
    char images[400];
    scoped(session_rows) sessions = { 0 };
    scoped(image_rows) rows = { 0 };
    (void)snprintf(images, sizeof images, "%s/images", data);
    autoclose int dir_fd = open(images, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (db_open(&db, data, DB_WRITE, &e) || sessions_sleeping(db, 0, 2, &sessions, &e) ||
        images_list(db, &rows, &e))
        bench_die("read the sessions of a service", &e);
    if (sessions.n != 1 || rows.n != 1)
        bench_dief("a session that was put to sleep is not in the database");
    if (db_begin(db, &e))
        bench_die("fill a database", &e);
    for (size_t i = 1; i < SLEEPERS; i++)
        if (add_copy(db, dir_fd, &sessions.rows[0], &rows.rows[0], ret_id, &e))
            bench_die("fill a database", &e);
    if (db_commit(db, &e))
        bench_die("fill a database", &e);
    db_close(db);
}

static void start_once(struct bench *b, struct sleepers_side *side, bool counts)
{
    struct bench_service s;
    struct service_parts parts;
    struct host_memory m;
    autofree struct host_tree *t = calloc(1, sizeof *t);
    if (!t)
        bench_die("memory", NULL);
    service_start(&s, &b->site, side->name, SERVICE_WARM, NULL);
    if (counts)
        series_add(&side->ms, s.healthy_ms);
    service_settle(&s);
    host_tree(s.pid, t);
    side->processes = t->n;
    if (service_parts(&s, &parts) && host_memory(parts.keeper, &m))
        side->keeper_mib = m.private_mib;
    service_stop(&s);
}

/* One that the service has only as a row has its variable. */
static void wake_last(struct bench *b, const char *name, const char *id)
{
    struct bench_service s;
    struct bench_session session = { 0 };
    json_t *answer;
    service_start(&s, &b->site, name, SERVICE_WARM, NULL);
    struct load_client *v = load_client_new(s.port);
    (void)snprintf(session.path, sizeof session.path, "/v1/sessions/%s", id);
    (void)snprintf(session.exec_path, sizeof session.exec_path, "%s/exec", session.path);
    (void)bench_session_cell(v, &session, "{\"code\": \"echo $mine\"}", &answer);
    const char *out = json_string_value(json_object_get(answer, "stdout"));
    if (!out || strcmp(out, "5\n") != 0)
        bench_dief("a sleeping session lost its variable");
    json_decref(answer);
    load_client_free(v);
    service_stop(&s);
}

void images_sleepers(struct bench *b)
{
    struct sleepers_side none = { .name = "sleepers-0" }, many = { .name = "sleepers-1000" };
    char data[400], id[ID_SIZE];
    bench_stop_services(b);
    make_one(b, none.name, false);
    make_one(b, many.name, true);
    (void)snprintf(data, sizeof data, "%s/%s/data", b->site.dir, many.name);
    multiply(data, id);
    for (size_t i = 0; i <= b->plan.starts; i++) {
        start_once(b, &none, i > 0);
        start_once(b, &many, i > 0);
    }
    wake_last(b, many.name, id);
    report_section(b->report, "start of a service, to the first 200 of /v1/health");
    report_series(b->report, "without sleeping sessions", &none.ms, &none.ms);
    report_series(b->report, "with 1,000 sleeping sessions", &many.ms, &none.ms);
    report_metric(b->report, "sleepers_start_over_none", series_ratio(&many.ms, &none.ms).all);
    report_facts(b->report, "1,000 sleeping sessions, beside none");
    report_fact(b->report, "processes more", (double)many.processes - (double)none.processes, "");
    report_metric(b->report, "sleepers_processes", (double)many.processes - (double)none.processes);
    if (none.keeper_mib > 0) {
        double kib = (many.keeper_mib - none.keeper_mib) * 1024 / SLEEPERS;
        report_fact(b->report, "memory of the keeper for each", kib, "KiB");
        report_metric(b->report, "sleeper_kib", kib);
    }
    series_done(&none.ms);
    series_done(&many.ms);
}
