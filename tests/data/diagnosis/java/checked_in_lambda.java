import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.stream.Collectors;

public class Main {
    public static void main(String[] args) {
        List<String> links = List.of("http://a.example/x", "http://b.example/y");
        List<String> hosts = links.stream()
            .map(s -> new URI(s))
            .map(URI::getHost)
            .collect(Collectors.toList());
        System.out.println(hosts);
    }
}
