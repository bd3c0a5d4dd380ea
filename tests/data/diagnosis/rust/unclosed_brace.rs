fn main() {
    for i in 0..3 {
        println!("{}", i);

    println!("done");
}
