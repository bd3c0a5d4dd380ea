public class Main {
    public static void main(String[] args) {
        int n = "42";
        System.out.println(n);
    }
}
