/* zygote/zygote_boot.h — from a clone of the warden to an interpreter with our driver in it. Runs in: a zygote that is not one yet. */
#pragma once

#include "zygote/zygote.h"

_Noreturn void zygote_boot(struct jar_host *h, const struct zygote_files *files, int fd);
