/* A run beside a bomb: how much slower it gets, and whether the bomb ends as it should.
 *
 * Both go through the same warden, as they do in a service. The bomb is thrown again as soon as it
 * has ended; the kinds of bombs, and none, take turns. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "bench/bench_report.h"
#include "guests.h"
#include "jars_bench.h"
#include "programs.h"

extern const struct language language_python;

static const struct bomb {
    const char *name, *code;
    enum limit_id limit;
    uint64_t value;
    enum verdict verdict;
} bombs[] = {
    { "alone", NULL, 0, 0, VERDICT_OK },
    { "beside a memory bomb", "x = []\nwhile True: x.append(bytearray(1 << 20))\n", LIMIT_MEMORY,
      64 << 20, VERDICT_MEMORY_LIMIT },
    { "beside a fork bomb",
      "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n", LIMIT_PIDS, 32,
      VERDICT_TIMEOUT },
    { "beside an output flood", "import os\nwhile True: os.write(1, b'x' * 65536)\n", LIMIT_OUTPUT,
      16 << 20, VERDICT_OUTPUT_LIMIT },
    { "beside a disk fill", "f = open('big', 'wb')\nwhile True: f.write(b'x' * 65536)\n",
      LIMIT_DISK, 32 << 20, VERDICT_DISK_LIMIT },
};
enum { BOMBS = ARRAY_LEN(bombs), TURN = 10, BOMB_WALL_MS = 1000 };
enum { NEIGHBOUR, BOMB, GUESTS };

struct neighbours {
    struct warden w;
    struct guest guests[GUESTS];
    uint64_t next_id;
    struct series times[BOMBS];
    size_t thrown[BOMBS], wrong[BOMBS]; /* bombs, and those with another verdict than theirs */
    size_t harmed[BOMBS];               /* neighbours that did not end well */
};

static void start_bomb(struct neighbours *p, size_t kind)
{
    const struct bomb *bomb = &bombs[kind];
    struct bench_program program = { bomb->name, &language_python,   "bomb.py",
                                     bomb->code, strlen(bomb->code), "" };
    struct limits limits = limits_default();
    limits.v[LIMIT_WALL_MS] = BOMB_WALL_MS;
    limits.v[bomb->limit] = bomb->value;
    guest_start(&p->guests[BOMB], &p->w, ++p->next_id, &program, &limits);
}

/* A fork bomb can only end by its deadline; on a slow machine any of them may. */
static void check_bomb(struct neighbours *p, size_t kind)
{
    struct guest *g = &p->guests[BOMB];
    enum verdict v = jar_run_verdict(&g->run);
    p->thrown[kind]++;
    if (v != bombs[kind].verdict && v != VERDICT_TIMEOUT) {
        p->wrong[kind]++;
        (void)fprintf(stderr, "bench: %s: %s %s\n", bombs[kind].name, verdict_word(v),
                      g->run.end.err.text);
    }
    guest_done(g);
    *g = (struct guest){ 0 };
}

static void step(struct neighbours *p, size_t kind, bool again)
{
    guests_step(&p->w, p->guests, GUESTS, -1);
    if (!p->guests[BOMB].over)
        return;
    check_bomb(p, kind);
    if (again)
        start_bomb(p, kind);
}

static void neighbour_once(struct neighbours *p, size_t kind)
{
    struct guest *g = &p->guests[NEIGHBOUR];
    struct limits limits = limits_default();
    guest_start(g, &p->w, ++p->next_id, &programs[PROGRAM_PYTHON], &limits);
    while (!g->over)
        step(p, kind, true);
    p->harmed[kind] += jar_run_verdict(&g->run) != VERDICT_OK ||
                       strcmp(g->output, programs[PROGRAM_PYTHON].says) != 0;
    series_add(&p->times[kind], guest_ms(g));
    guest_done(g);
    *g = (struct guest){ 0 };
}

static void take_turn(struct neighbours *p, size_t kind)
{
    if (bombs[kind].code) {
        start_bomb(p, kind);
        while (!p->guests[BOMB].run.started)
            step(p, kind, true);
    }
    for (int i = 0; i < TURN; i++)
        neighbour_once(p, kind);
    while (p->guests[BOMB].sent_us)
        step(p, kind, false);
}

static bool is_limited(const struct neighbours *p, size_t kind)
{
    return !bombs[kind].code || !(p->w.isolation.unenforced & LIMIT_BIT(bombs[kind].limit));
}

static void tell(struct jars_bench *b, struct neighbours *p)
{
    size_t thrown = 0, wrong = 0, harmed = 0;
    char name[100];
    for (size_t kind = 0; kind < BOMBS; kind++) {
        if (!is_limited(p, kind))
            continue;
        report_series(b->report, bombs[kind].name, &p->times[kind], &p->times[0]);
        thrown += p->thrown[kind];
        wrong += p->wrong[kind];
        harmed += p->harmed[kind];
    }
    (void)snprintf(name, sizeof name, "bombs with a wrong verdict, of %zu", thrown);
    report_must(b->report, name, (double)wrong, 0, "bombs");
    report_must(b->report, "runs beside bombs that did not end well", (double)harmed, 0, "runs");
    for (size_t kind = 0; kind < BOMBS; kind++)
        series_done(&p->times[kind]);
}

void neighbours(struct jars_bench *b)
{
    static struct neighbours place;
    char title[80];
    place = (struct neighbours){ 0 };
    start_warden(LEVEL_AUTO, &place.w);
    (void)snprintf(title, sizeof title, "python hello beside bombs, level %s",
                   level_name(place.w.isolation.level));
    report_section(b->report, title);
    for (size_t done = 0; done < b->plan.neighbours; done += TURN)
        for (size_t kind = 0; kind < BOMBS; kind++)
            if (is_limited(&place, kind))
                take_turn(&place, kind);
    tell(b, &place);
    warden_stop(&place.w);
}
