use std::fs::File;
use std::io::{self, BufRead, BufReader};

fn count(path: &str) -> io::Result<usize> {
    let f = File::open(path)?;
    Ok(BufReader::new(f).lines().count())
}

fn main() -> io::Result<()> {
    println!("{}", count("input.txt")?);
    Ok(())
}
