public class Main {
    static int avg(int[] a) { double s = 0; for (int x : a) s += x; return s / a.length; }
    public static void main(String[] args) { System.out.println(avg(new int[]{1})); }
}
