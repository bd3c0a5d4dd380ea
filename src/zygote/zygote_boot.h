/* zygote/zygote_boot.h — turns a clone of the warden into an interpreter with our driver in it.
 * Runs in: a zygote, before its interpreter starts. */
#pragma once

#include "zygote/zygote.h"

_Noreturn void zygote_boot(struct jar_host *h, const struct zygote_files *files, int fd);
