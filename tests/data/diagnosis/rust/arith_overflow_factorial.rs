fn factorial(n: u32) -> u32 {
    let mut result: u32 = 1;
    for i in 1..=n {
        result *= i;
    }
    result
}

fn main() {
    for n in 10..15 {
        println!("{n}! = {}", factorial(n));
    }
}
