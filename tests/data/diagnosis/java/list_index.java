import java.util.List;

public class Main {
    public static void main(String[] args) {
        List<String> names = List.of("ann", "bob");
        System.out.println(names.get(2));
    }
}
