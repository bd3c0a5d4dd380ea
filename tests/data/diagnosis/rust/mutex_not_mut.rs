fn push_all(out: &Vec<i32>, values: &[i32]) {
    for v in values {
        out.push(*v);
    }
}

fn main() {
    let mut out = Vec::new();
    push_all(&mut out, &[1, 2, 3]);
    println!("{:?}", out);
}
