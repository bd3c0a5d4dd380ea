import java.util.*;

public class Main {
    public static void main(String[] args) {
        List<int> sizes = new ArrayList<>();
        System.out.println(sizes);
    }
}
