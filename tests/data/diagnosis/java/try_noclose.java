public class Main {
    public static void main(String[] args) { try { System.out.println("a"); } }
}
