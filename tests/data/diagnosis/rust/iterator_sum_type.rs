fn average(values: &[f64]) -> f64 {
    let total = values.iter().sum() / values.len() as f64;
    total
}

fn main() {
    println!("{:.2}", average(&[1.0, 2.0, 4.0]));
}
