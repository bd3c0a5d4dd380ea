public class Main {
    public static void main(String[] args) {
        int total = 3
        System.out.println(total);
    }
}
