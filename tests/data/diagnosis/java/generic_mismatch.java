import java.util.ArrayList;
import java.util.List;

public class Main {
    static double total(List<Double> values) {
        double sum = 0;
        for (Double v : values) sum += v;
        return sum;
    }

    public static void main(String[] args) {
        List<Integer> marks = new ArrayList<>();
        marks.add(3);
        marks.add(5);
        System.out.println(total(marks));
    }
}
