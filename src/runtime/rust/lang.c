#include "runtime/language.h"

/* Fast, as one expects of it, and yet an overflow is an error where it happens, as while one learns. */
extern const struct language language_rust;
const struct language language_rust = {
    .name = "rust",
    .aliases = (const char *const[]){ "rs", "rustc", NULL },
    .extensions = (const char *const[]){ ".rs", NULL },
    .main_file = "main.rs",
    .command = (const char *const[]){ "./{program}", NULL },
    .compile = (const char *const[]){ "/usr/bin/rustc", "--edition=2021", "--crate-name=main",
                                      "-Copt-level=2", "-Coverflow-checks=on", "-Cstrip=debuginfo",
                                      "--color=never", "-o", "{program}", FILE_ARGUMENT, NULL },
    .products = (const char *const[]){ "program", NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/rustc", "--version", NULL },
    .install = "apt-get install rustc",
    .hints = (const char *const[]){ "!^fn ",         "!^let mut ", "!println!(",    "!^use std::",
                                    "!^impl ",       "!^impl<",    "!^pub fn ",     "^match ",
                                    "!.unwrap()",    "!vec![",     "!^#[",          "!&str",
                                    "!&mut ",        "!-> Self",   "!^trait ",      "!&self",
                                    "!^pub struct ", "^enum ",     "^struct ",      "!assert_eq!",
                                    "!Vec<",         "!Ok(()",     "!format!(",     "!^mod ",
                                    "!^use crate",   "!: i32",     "!: u32",        "!: f64",
                                    "!: usize",      "!.iter()",   "!std::process", "!fn main()",
                                    " -> ",          NULL },
};
