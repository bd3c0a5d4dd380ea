use std::fmt;

#[derive(Debug)]
enum AppError {
    Parse(std::num::ParseIntError),
    Negative(i64),
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            AppError::Parse(e) => write!(f, "parse: {e}"),
            AppError::Negative(n) => write!(f, "negative: {n}"),
        }
    }
}

impl std::error::Error for AppError {}

impl From<std::num::ParseIntError> for AppError {
    fn from(e: std::num::ParseIntError) -> Self { AppError::Parse(e) }
}

fn parse(s: &str) -> Result<i64, AppError> {
    let n: i64 = s.parse()?;
    if n < 0 { return Err(AppError::Negative(n)); }
    Ok(n)
}

fn main() -> Result<(), AppError> {
    println!("{}", parse("12")?);
    println!("{}", parse("twelve")?);
    Ok(())
}
