import java.util.List;

public class Main {
    public static void main(String[] args) {
        List<Integer> numbers = List.of(1, 2, 3, 4);
        int sum = 0;
        numbers.forEach(n -> sum += n);
        System.out.println("Sum: " + sum);
    }
}
