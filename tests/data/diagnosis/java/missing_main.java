public class Main {
    static void run() {
        System.out.println("hello");
    }
}
