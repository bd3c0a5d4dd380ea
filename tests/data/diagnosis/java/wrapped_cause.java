import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

public class Main {
    static List<String> read(String name) {
        try {
            return Files.readAllLines(Path.of(name));
        } catch (IOException e) {
            throw new RuntimeException("could not read " + name, e);
        }
    }

    static int count(String name) {
        return read(name).size();
    }

    public static void main(String[] args) {
        System.out.println(count("scores.txt"));
    }
}
