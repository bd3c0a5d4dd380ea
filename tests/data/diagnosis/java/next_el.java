public class Main {
    public static void main(String[] args) {
        int[] a = {1, 3, 2};
        for (int i = 0; i < a.length; i++)
            if (a[i] > a[i + 1]) System.out.println("drop");
    }
}
