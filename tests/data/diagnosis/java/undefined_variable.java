public class Main {
    public static void main(String[] args) {
        int count = 3;
        System.out.println(cuont);
    }
}
