/* runtime/node/node_api.h — the parts of Node's stable C interface and of libuv that the driver
 * uses. They are declared here because the headers do not come with Node. They are weak, so
 * that the driver can name a missing function instead of failing to load. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct napi_env_opaque *napi_env;
typedef struct napi_value_opaque *napi_value;
typedef struct napi_info_opaque *napi_info;
typedef napi_value (*napi_callback)(napi_env, napi_info);

/* All return 0 on success. */
int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *);
int napi_get_cb_info(napi_env, napi_info, size_t *argc, napi_value *argv, napi_value *self,
                     void **);
int napi_set_named_property(napi_env, napi_value, const char *, napi_value);
int napi_create_array(napi_env, napi_value *);
int napi_create_string_utf8(napi_env, const char *, size_t, napi_value *);
int napi_create_int32(napi_env, int32_t, napi_value *);
int napi_get_value_double(napi_env, napi_value, double *);
int napi_get_value_string_utf8(napi_env, napi_value, char *, size_t, size_t *);
int napi_set_element(napi_env, napi_value, uint32_t, napi_value);
int napi_get_uv_event_loop(napi_env, void **);
void uv_update_time(void *loop);
int uv_run(void *loop, int mode);
int RAND_poll(void);

/* clang-format off */
#define NODE_API_SYMBOLS(X)       \
    X(napi_create_function)       \
    X(napi_get_cb_info)           \
    X(napi_set_named_property)    \
    X(napi_create_array)          \
    X(napi_create_string_utf8)    \
    X(napi_create_int32)          \
    X(napi_get_value_double)      \
    X(napi_get_value_string_utf8) \
    X(napi_set_element)           \
    X(napi_get_uv_event_loop)     \
    X(uv_update_time)             \
    X(uv_run)                     \
    X(RAND_poll)
/* clang-format on */

#pragma weak napi_create_function
#pragma weak napi_get_cb_info
#pragma weak napi_set_named_property
#pragma weak napi_create_array
#pragma weak napi_create_string_utf8
#pragma weak napi_create_int32
#pragma weak napi_get_value_double
#pragma weak napi_get_value_string_utf8
#pragma weak napi_set_element
#pragma weak napi_get_uv_event_loop
#pragma weak uv_update_time
#pragma weak uv_run
#pragma weak RAND_poll
