fn check(age: i32) {
    if age < 0 {
        panic!("age is negative: {}", age);
    }
}

fn main() {
    check(-3);
}
