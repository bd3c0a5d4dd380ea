public class Main {
    static String grade(int score) {
        if (score >= 90) return "A";
        if (score >= 80) return "B";
        return 'C';
    }

    public static void main(String[] args) {
        System.out.println(grade(95) + grade(10));
    }
}
