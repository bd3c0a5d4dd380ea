public class Main {
    static int square(int n) {
        return n * n;
        System.out.println("squared");
    }

    public static void main(String[] args) {
        System.out.println(square(3));
    }
}
