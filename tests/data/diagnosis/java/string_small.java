public class Main {
    public static void main(String[] args) {
        string name = "ann";
        System.out.println(name);
    }
}
