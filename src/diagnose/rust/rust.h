/* diagnose/rust/rust.h — the rules for Rust's errors. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

/* Errors of rustc, and of programs. */
extern const struct rule rust_rules[];
