fn main() {
    let mut queue = vec![1u32, 2, 3];
    for item in &queue {
        if *item % 2 == 0 {
            queue.push(item * 10);
        }
    }
    println!("{:?}", queue);
}
