/* diagnose/rust/rust.h — the advice for Rust's errors. Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

/* The kind of error, with what is advised: of rustc, and of programs. */
extern const struct rule rust_rules[];
