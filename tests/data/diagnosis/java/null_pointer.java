public class Main {
    public static void main(String[] args) {
        String name = System.getenv("NO_SUCH_VARIABLE");
        System.out.println(name.length());
    }
}
