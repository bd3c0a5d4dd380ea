fn main() {
    let sum: i32 = [1, 2, 3].iter().sum();
    assert_eq!(sum, 7, "the sum is wrong");
}
