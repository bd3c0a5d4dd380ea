import java.util.HashMap;
import java.util.Map;

public class Main {
    static int totalOf(Map<String, Integer> prices, String[] names) {
        int sum = 0;
        for (String n : names) {
            int p = prices.get(n);
            sum += p;
        }
        return sum;
    }

    public static void main(String[] args) {
        Map<String, Integer> prices = new HashMap<>();
        prices.put("tea", 3);
        System.out.println(totalOf(prices, new String[] { "tea", "jam" }));
    }
}
