public class Main {
    public static void main(String[] args) {
        double price = 9.99;
        int rounded = price;
        System.out.println(rounded);
    }
}
