public class Main {
    public static void main(String[] args) {
        char grade = "A";
        System.out.println(grade);
    }
}
