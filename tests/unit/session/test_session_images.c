/* Memory for images that are unfolded. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "check.h"
#include "session/images_impl.h"

enum { BYTES = 1 << 20 };

static enum err_code told;

static void on_done(struct image_load *l, const struct err *e)
{
    (void)l;
    told = e ? e->code : ERR_NONE;
}

static void test_memory_is_reserved_while_a_file_is_unfolded(void)
{
    uv_loop_t loop;
    struct image_room room = { .bytes = UINT64_MAX / 4 };
    struct images all = { .loop = &loop, .dir_fd = open("/", O_PATH | O_CLOEXEC) };
    struct saved_image *saved = calloc(1, sizeof *saved);
    struct image_load load = { .on_done = on_done };
    struct err e = { 0 };
    if (!CHECK(saved != NULL) || !CHECK(uv_loop_init(&loop) == 0))
        return;
    saved->row = (struct image_row){ .id = strdup("img_none"),
                                     .form = strdup("zstd"),
                                     .bytes = BYTES };
    CHECK_INT(images_append(&all, saved, &e), 0);
    CHECK_INT(images_check_memory(&all, BYTES, &e), 0);
    CHECK_INT(images_load(&all, saved, &load, &e), 0);
    CHECK_INT(all.unfolding, BYTES);
    all.unfolding += UINT64_MAX / 4; /* others */
    CHECK_INT(images_check_memory(&all, BYTES, &e), -1);
    CHECK_INT((int)e.code, (int)ERR_BUSY);
    all.unfolding -= UINT64_MAX / 4;
    all.rooms = &room;
    CHECK_INT(images_check_memory(&all, BYTES, &e), 0);
    room.in_memory = true; /* it arrives */
    CHECK_INT(images_check_memory(&all, BYTES, &e), -1);
    all.rooms = NULL;
    CHECK_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
    CHECK_INT((int)told, (int)ERR_CONFLICT); /* there is no such file */
    CHECK_INT(all.unfolding, 0);
    CHECK_INT(uv_loop_close(&loop), 0);
    fd_close(&all.dir_fd);
    saved_image_free(saved);
    free(all.buckets);
    free(all.buckets_of_session);
}

static const struct check_test tests[] = {
    TEST(test_memory_is_reserved_while_a_file_is_unfolded),
};
CHECK_MAIN(tests)
