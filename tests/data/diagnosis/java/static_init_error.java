import java.util.Map;

public class Main {
    static class Settings {
        static final Map<String, String> RAW = Map.of("port", "80a");
        static final int PORT = Integer.parseInt(RAW.get("port"));
    }

    static void serve() {
        System.out.println("listening on " + Settings.PORT);
    }

    public static void main(String[] args) {
        serve();
    }
}
