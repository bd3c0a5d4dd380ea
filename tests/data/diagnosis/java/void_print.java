public class Main {
    static void hi() {}
    public static void main(String[] args) { System.out.println(hi()); String s = hi(); }
}
