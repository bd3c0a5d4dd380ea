import java.util.List;

public class Main {
    record Person(String name, int age) {}

    static Person oldest(List<Person> people, int min) {
        return people.stream()
            .filter(p -> p.age() > min)
            .max((a, b) -> Integer.compare(a.age(), b.age()))
            .get();
    }

    public static void main(String[] args) {
        List<Person> people = List.of(new Person("Ann", 30), new Person("Bob", 40));
        System.out.println(oldest(people, 35).name());
        System.out.println(oldest(people, 50).name());
    }
}
