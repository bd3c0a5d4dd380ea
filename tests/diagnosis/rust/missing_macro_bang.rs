fn main() {
    println("hello");
}
