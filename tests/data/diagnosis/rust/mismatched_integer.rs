fn area(width: u32, height: u32) -> u32 {
    width * height
}

fn main() {
    let w: u64 = 3;
    let h: u32 = 4;
    println!("{}", area(w, h));
}
