public class Main {
    public static void main(String[] args) {
        final int limit = 3;
        limit = 4;
        System.out.println(limit);
    }
}
