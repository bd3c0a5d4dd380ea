public class Main {
    public static void main(String[] args) { for (int i : 5) System.out.println(i); }
}
