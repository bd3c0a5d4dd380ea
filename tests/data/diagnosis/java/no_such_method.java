public class Main {
    public static void main(String[] args) {
        String text = "hello";
        System.out.println(text.size());
    }
}
