public class Main {
    public static void main(String[] args) {
        int n = 1;
        if (n = 2) {
            System.out.println(n);
        }
    }
}
