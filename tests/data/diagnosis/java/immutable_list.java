import java.util.List;

public class Main {
    public static void main(String[] args) {
        List<Integer> numbers = List.of(1, 2);
        numbers.add(3);
        System.out.println(numbers);
    }
}
