/* runtime/node/image.h — images of a JavaScript session (image/image.h), with all threads of Node.
 * Runs in: a session program. Each function is called from JavaScript. */
#pragma once

#include "runtime/node/node_api.h"

/* writeImage(descriptors, room, files, strict): [outcome, text, microseconds, bytes of the files].
 * The outcome is "written", "became" in a process that became the image, "refused" or "failed". The
 * text has the names of the things that cannot be carried, each with a NUL behind it, or the reason
 * of a failure. */
napi_value node_image_write(napi_env env, napi_info info);
/* becomeImage(descriptors, files): returns the reason if that is refused. */
napi_value node_image_become(napi_env env, napi_info info);
/* renewContexts(last, before): drops the random numbers that each context has in stock (fresh.h). */
napi_value node_image_renew_contexts(napi_env env, napi_info info);
/* pid(): of this process; process.pid is as old as the image. */
napi_value node_image_pid(napi_env env, napi_info info);
