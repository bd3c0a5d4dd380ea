public class Main {
    public static void main(String[] args) {
        int n = 1;
        for (;;) {
            n *= 2;
            if (n > 100)
                n -= 100;
        }
        System.out.println(n);
    }
}
