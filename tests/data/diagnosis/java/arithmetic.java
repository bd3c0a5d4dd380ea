public class Main {
    static int average(int total, int n) {
        return total / n;
    }

    public static void main(String[] args) {
        System.out.println(average(10, 0));
    }
}
