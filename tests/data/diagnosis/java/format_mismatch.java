import java.util.List;

public class Main {
    record Item(String name, double price, int qty) {}

    static String line(Item it) {
        return String.format("%-10s %d x %.2f", it.name(), it.price(), it.qty());
    }

    public static void main(String[] args) {
        for (Item it : List.of(new Item("tea", 2.5, 3)))
            System.out.println(line(it));
    }
}
