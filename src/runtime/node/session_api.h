/* runtime/node/session_api.h — the parts of Node's C interface and of libuv that only sessions use; see
 * node_api.h. */
#pragma once

#include <stdbool.h>

#include "runtime/node/node_api.h"

typedef struct napi_threadsafe_function_opaque *napi_threadsafe_function;
typedef void (*napi_threadsafe_function_call_js)(napi_env, napi_value, void *, void *);
int napi_get_buffer_info(napi_env, napi_value, void **data, size_t *length);
int napi_get_value_uint32(napi_env, napi_value, uint32_t *);
int napi_get_boolean(napi_env, bool, napi_value *);
int napi_get_undefined(napi_env, napi_value *);
int napi_call_function(napi_env, napi_value self, napi_value f, size_t, const napi_value *,
                       napi_value *);
int napi_get_and_clear_last_exception(napi_env, napi_value *);
int napi_throw(napi_env, napi_value);
int napi_throw_error(napi_env, const char *code, const char *message);
int napi_create_threadsafe_function(napi_env, napi_value f, napi_value resource, napi_value name,
                                    size_t queue_max, size_t threads, void *, void *, void *,
                                    napi_threadsafe_function_call_js, napi_threadsafe_function *);
int napi_call_threadsafe_function(napi_threadsafe_function, void *, int mode);
int napi_unref_threadsafe_function(napi_env, napi_threadsafe_function);
typedef struct napi_async_context_opaque *napi_async_context;
typedef struct napi_ref_opaque *napi_ref;
typedef struct napi_handle_scope_opaque *napi_handle_scope;
int napi_create_buffer_copy(napi_env, size_t, const void *, void **, napi_value *);
int napi_create_double(napi_env, double, napi_value *);
int napi_get_value_bool(napi_env, napi_value, bool *);
int napi_get_array_length(napi_env, napi_value, uint32_t *);
int napi_get_element(napi_env, napi_value, uint32_t, napi_value *);
int napi_create_reference(napi_env, napi_value, uint32_t count, napi_ref *);
int napi_get_reference_value(napi_env, napi_ref, napi_value *);
int napi_async_init(napi_env, napi_value resource, napi_value name, napi_async_context *);
int napi_make_callback(napi_env, napi_async_context, napi_value self, napi_value f, size_t,
                       const napi_value *, napi_value *);
int napi_fatal_exception(napi_env, napi_value error);
int napi_open_handle_scope(napi_env, napi_handle_scope *);
int napi_close_handle_scope(napi_env, napi_handle_scope);
size_t uv_handle_size(int type);
int uv_poll_init(void *loop, void *handle, int fd);
int uv_poll_start(void *handle, int events, void (*)(void *handle, int status, int events));
