/* runtime/node/channel.h — the channel of a JavaScript session: messages out in one piece, frames in
 * with their descriptors. Runs in: a session program. The functions with these arguments are called
 * from JavaScript. */
#pragma once

#include "image/descriptors.h"
#include "runtime/node/session_api.h"

/* channel(): the number of its descriptor. */
napi_value channel_find(napi_env env, napi_info info);
/* send(request, type, data) */
napi_value channel_send(napi_env env, napi_info info);
/* listen(onFrame): onFrame(frame, descriptors) for each frame, onFrame() when the host is gone. */
napi_value channel_listen(napi_env env, napi_info info);

int channel_fd(void);
/* The number of frames that were sent. */
uint32_t channel_sent(void);
/* The descriptors of ours at the start. */
const struct image_roles *channel_roles(void);
/* In a process that became an image: its channel has so many frames already. */
void channel_went_on(uint32_t sent);
