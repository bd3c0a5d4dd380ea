#include "examiner/packed_json.h"

#include <math.h>
#include <string.h>

enum { HEAD = 4 }; /* bytes of a length or of a type */

/* ---- out ---- */

static size_t size_of(const json_t *value, unsigned depth)
{
    size_t size = HEAD, part, i;
    const char *key;
    json_t *item;
    if (depth > PACKED_JSON_DEPTH)
        return 0;
    if (json_is_string(value))
        return size + HEAD + json_string_length(value);
    if (json_is_number(value))
        return size + sizeof(uint64_t);
    if (json_is_array(value)) {
        size += HEAD;
        json_array_foreach(value, i, item) {
            part = size_of(item, depth + 1);
            if (part == 0)
                return 0;
            size += part;
        }
    } else if (json_is_object(value)) {
        size += HEAD;
        json_object_foreach((json_t *)value, key, item) {
            part = size_of(item, depth + 1);
            if (part == 0)
                return 0;
            size += HEAD + strlen(key) + 1 + part;
        }
    }
    return size;
}

size_t packed_json_size(const json_t *value)
{
    return size_of(value, 0);
}

static void put_real(struct packer *p, double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    pack_u64(p, bits);
}

void packed_json_put(struct packer *p, const json_t *value)
{
    size_t i;
    const char *key;
    json_t *item;
    pack_u32(p, (uint32_t)json_typeof(value));
    if (json_is_string(value)) {
        pack_bytes(p, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        pack_u64(p, (uint64_t)json_integer_value(value));
    } else if (json_is_real(value)) {
        put_real(p, json_real_value(value));
    } else if (json_is_array(value)) {
        pack_u32(p, (uint32_t)json_array_size(value));
        json_array_foreach(value, i, item)
            packed_json_put(p, item);
    } else if (json_is_object(value)) {
        pack_u32(p, (uint32_t)json_object_size(value));
        json_object_foreach((json_t *)value, key, item) {
            pack_str(p, key);
            packed_json_put(p, item);
        }
    }
}

/* ---- in ---- */

static json_t *get(struct unpacker *u, unsigned depth);

static json_t *get_string(struct unpacker *u)
{
    size_t n;
    const char *bytes = unpack_bytes(u, &n);
    return bytes ? json_stringn(bytes, n) : NULL; /* refuses text that is not UTF-8 */
}

static json_t *get_real(struct unpacker *u)
{
    uint64_t bits = unpack_u64(u);
    double real;
    memcpy(&real, &bits, sizeof real);
    return isfinite(real) ? json_real(real) : NULL;
}

static json_t *get_array(struct unpacker *u, unsigned depth)
{
    uint32_t n = unpack_u32(u);
    json_t *array = json_array();
    for (uint32_t i = 0; i < n && !u->failed; i++)
        if (json_array_append_new(array, get(u, depth + 1)) != 0)
            u->failed = true;
    return array;
}

static json_t *get_object(struct unpacker *u, unsigned depth)
{
    uint32_t n = unpack_u32(u);
    json_t *object = json_object();
    for (uint32_t i = 0; i < n && !u->failed; i++) {
        const char *key = unpack_str(u);
        if (!key || json_object_set_new(object, key, get(u, depth + 1)) != 0)
            u->failed = true;
    }
    return object;
}

static json_t *get(struct unpacker *u, unsigned depth)
{
    json_t *value = NULL;
    uint32_t type = unpack_u32(u);
    if (u->failed || depth > PACKED_JSON_DEPTH) {
        u->failed = true;
        return NULL;
    }
    switch (type) {
    case JSON_OBJECT:
        value = get_object(u, depth);
        break;
    case JSON_ARRAY:
        value = get_array(u, depth);
        break;
    case JSON_STRING:
        value = get_string(u);
        break;
    case JSON_INTEGER:
        value = json_integer((json_int_t)unpack_u64(u));
        break;
    case JSON_REAL:
        value = get_real(u);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        value = json_boolean(type == JSON_TRUE);
        break;
    case JSON_NULL:
        value = json_null();
        break;
    default:
        break;
    }
    u->failed = u->failed || !value;
    if (!u->failed)
        return value;
    json_decref(value);
    return NULL;
}

json_t *packed_json_get(struct unpacker *u)
{
    return get(u, 0);
}
