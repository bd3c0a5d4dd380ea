public class Main {
    public static void main(String[] args) { int d = 1; switch (d) { case 1: break; case 1: break; } }
}
