import java.util.ArrayList;
import java.util.List;

class Cart {
    private final List<Double> prices = new ArrayList<>();

    void add(double p) { prices.add(p); }

    double getTotal() {
        double t = 0;
        for (double p : prices) t += p;
        return t;
    }
}

public class Main {
    public static void main(String[] args) {
        Cart c = new Cart();
        c.add(2.5);
        System.out.println(c.getTotel());
    }
}
