public class Main {
    public static void main(String[] args) {
        int[] a = {1, 2, 3};
        System.out.println(a[a.length]);
    }
}
