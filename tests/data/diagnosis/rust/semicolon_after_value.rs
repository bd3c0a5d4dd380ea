fn twice(n: i32) -> i32 {
    n * 2;
}

fn main() {
    println!("{}", twice(2));
}
