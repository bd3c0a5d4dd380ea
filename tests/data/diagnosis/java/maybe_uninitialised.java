public class Main {
    public static void main(String[] args) {
        int total;
        if (args.length > 0)
            total = 1;
        System.out.println(total);
    }
}
