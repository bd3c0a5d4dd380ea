/* runtime/rust/lang.c — the declaration of rust; see runtime/language.h. Pure data. */
#include "runtime/language.h"

/* Optimised for speed, but an overflow is still an error at the place where it happens. */
DECLARE_LANGUAGE(rust) = {
    NAMED("rust", "main.rs", WORDS(".rs"), WORDS("rs", "rustc")),
    .command = WORDS("./{program}"),
    .compile = WORDS("/usr/bin/rustc", "--edition=2021", "--crate-name=main", "-Copt-level=2",
                     "-Coverflow-checks=on", "-Cstrip=debuginfo", "--color=never", "-o",
                     "{program}", FILE_ARGUMENT),
    .products = WORDS("program"),
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/rustc", "--version"),
    .install = "apt-get install rustc",
    .hints = WORDS(
        "!^fn ", "!fn main()", "!^pub fn ", "!^pub struct ", "!^pub enum ", "!^pub trait ",
        "!^async fn ", "!^const fn ", "!^let mut ", "^let ", "!^use std::", "!^use crate",
        "!^use super", "^use ", "!^mod ", "!^impl ", "!^impl<", "!^trait ", "^enum ", "!^match ",
        "!^loop {", "!^while let ", "!^if let ", "!^unsafe {", "!^#[", "!^#![", "!^#[derive",
        "!println!(", "!print!(", "!eprintln!(", "!format!(", "!panic!(", "!vec![", "!write!(",
        "!writeln!(", "!assert!(", "!assert_eq!", "!.unwrap()", "!.expect(\"", "!.collect()",
        "!.collect::<", "!.iter()", "!.into_iter()", "!.iter_mut()", "!.to_string()", ".clone()",
        "!.as_str()", "!.parse::<", "!.chars()", "!.len()", "!::new()", "!String::from(", "!&str",
        "!&'static ", "!&mut ", "!&self", "self.", "!-> Self", "!-> i32", "!-> u32", "!-> u64",
        "!-> usize", "!-> bool", "!-> String", "!-> Option<", "!-> Result<", "!-> impl ", "!-> f64",
        "!Vec<", "!HashMap<", "!Option<", "!Result<", "!Box<", "!Rc<", "!Arc<", "!Ok(", "!Err(",
        "!Some(", "!None", "!None =>", "!_ =>", "!: i32", "!: i64", "!: u8", "!: u32", "!: u64",
        "!: f64", "!: usize", "!: bool", "!: String", "!, i32", "0..", "1..", "!..=", "|x|",
        "|a, b|", "!|&x|", "!(|", "!<'a>", "!&'a ", "!std::process", "!std::thread", "!move |",
        "!as usize", "!dyn ", "!where T", " -> ", "::", "|//", "-~:", "-function ", "-const auto",
        "-std::cout", "-console.", "-void ", "-#include", "-^def ", "-^class ", "-^interface ",
        "-: string", "-: number", "-elif", "-===", "-^print ", "-^local ", "-\" => ", "-' => ",
        "-__", "-(self)", "-self, ", "-^package ", "-final ", "-System.", "!^struct ", "-^$",
        "-^public ", "-^private ", "-^int ", "-= new ", "-^print(", "-^typedef", "-^struct {"),
};
