public class Main {
    private int price = 3;

    public int getPrice() {
        return this.getPrice();
    }

    public static void main(String[] args) {
        System.out.println(new Main().getPrice());
    }
}
