/* diagnose/rust/rust.h — the advice for Rust's errors. Private to this room. */
#pragma once

#include "diagnose/core/advice.h"

/* The kind of error, with what is advised: of rustc, and of programs. */
extern const struct advice rust_advice[];
