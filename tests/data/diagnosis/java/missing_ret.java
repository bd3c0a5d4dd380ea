public class Main {
    static String grade(int p) { if (p > 90) return "A"; else if (p > 80) return "B"; }
    public static void main(String[] args) { System.out.println(grade(3)); }
}
