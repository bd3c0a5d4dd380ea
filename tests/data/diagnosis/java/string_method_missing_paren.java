public class Main {
    public static void main(String[] args) {
        String text = "abc";
        System.out.println(text.length);
    }
}
