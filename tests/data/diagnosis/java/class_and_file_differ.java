public class Calculator {
}

public class Shop {
    public static void main(String[] args) {
        System.out.println(1 + 2);
    }
}
