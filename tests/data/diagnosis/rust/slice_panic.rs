fn windows_sum(v: &[i32], size: usize) -> Vec<i32> {
    let mut sums = Vec::new();
    for start in 0..v.len() {
        let window = &v[start..start + size];
        sums.push(window.iter().sum());
    }
    sums
}

fn main() {
    println!("{:?}", windows_sum(&[1, 2, 3, 4], 2));
}
