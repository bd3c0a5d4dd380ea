import java.util.HashMap;
import java.util.Map;

public class Main {
    record User(String name, String email) {}

    static class Repo {
        private final Map<Integer, User> users = new HashMap<>();
        void add(int id, User u) { users.put(id, u); }
        User findUser(int id) { return users.get(id); }
    }

    static String domain(Repo repo, int id) {
        return repo.findUser(id).email().split("@")[1];
    }

    public static void main(String[] args) {
        Repo repo = new Repo();
        repo.add(1, new User("Ann", "ann@example.org"));
        System.out.println(domain(repo, 1));
        System.out.println(domain(repo, 2));
    }
}
