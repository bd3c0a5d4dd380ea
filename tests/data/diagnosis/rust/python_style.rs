fn is_leap(year: u32) -> bool {
    if year % 4 == 0 and year % 100 != 0 {
        return true;
    }
    year % 400 == 0
}

fn main() {
    println!("{}", is_leap(2024));
}
