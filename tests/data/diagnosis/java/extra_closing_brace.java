public class Main {
    static int square(int n) {
        return n * n;
    }
    }

    public static void main(String[] args) {
        System.out.println(square(4));
    }
}
