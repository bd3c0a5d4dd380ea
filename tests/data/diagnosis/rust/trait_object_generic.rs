fn parse_pair(s: &str) -> Option<(i32, i32)> {
    let mut parts = s.split(',');
    let a = parts.next()?.trim().parse::<i32>().ok()?;
    let b = parts.next()?.trim().parse::<i32>().ok()?;
    (a, b)
}

fn main() {
    println!("{:?}", parse_pair("1, 2"));
}
