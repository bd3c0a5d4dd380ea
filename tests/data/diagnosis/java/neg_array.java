public class Main {
    public static void main(String[] args) { int n = -1; int[] a = new int[n]; }
}
