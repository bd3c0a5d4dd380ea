public class Main {
    enum C { RED, GREEN, BLUE }
    static int f(C c) { return switch (c) { case RED -> 1; case GREEN -> 2; }; }
    public static void main(String[] args) { System.out.println(f(C.RED)); }
}
