public class Main {
    static int sign(int n) {
        if (n < 0) {
            return -1;
        }
    }

    public static void main(String[] args) {
        System.out.println(sign(3));
    }
}
