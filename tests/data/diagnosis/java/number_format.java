public class Main {
    public static void main(String[] args) {
        int n = Integer.parseInt("12a");
        System.out.println(n);
    }
}
