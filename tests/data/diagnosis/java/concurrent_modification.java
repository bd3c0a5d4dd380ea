import java.util.*;

public class Main {
    public static void main(String[] args) {
        List<Integer> numbers = new ArrayList<>(List.of(1, 2, 3, 4));
        for (Integer n : numbers) {
            if (n % 2 == 0) numbers.remove(n);
        }
        System.out.println(numbers);
    }
}
