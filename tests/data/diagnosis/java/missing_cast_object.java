import java.util.ArrayList;
import java.util.List;

public class Main {
    public static void main(String[] args) {
        List names = new ArrayList();
        names.add("Ann");
        names.add("Bob");
        for (int i = 0; i < names.size(); i++) {
            String n = names.get(i);
            System.out.println(n.toUpperCase());
        }
    }
}
