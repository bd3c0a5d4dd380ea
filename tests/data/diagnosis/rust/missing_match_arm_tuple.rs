enum Shape {
    Circle(f64),
    Square(f64),
    Triangle(f64, f64),
}

fn area(s: &Shape) -> f64 {
    match s {
        Shape::Circle(r) => 3.14 * r * r,
        Shape::Square(a) => a * a,
    }
}

fn main() {
    println!("{}", area(&Shape::Triangle(3.0, 4.0)));
    println!("{}", area(&Shape::Circle(1.0)) + area(&Shape::Square(1.0)));
}
