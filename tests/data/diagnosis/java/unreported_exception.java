import java.nio.file.Files;
import java.nio.file.Path;

public class Main {
    public static void main(String[] args) {
        String text = Files.readString(Path.of("data.txt"));
        System.out.println(text);
    }
}
