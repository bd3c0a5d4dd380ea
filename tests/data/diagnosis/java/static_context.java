public class Main {
    int twice(int n) {
        return n * 2;
    }

    public static void main(String[] args) {
        System.out.println(twice(4));
    }
}
