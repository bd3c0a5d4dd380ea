import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Main {
    static int divide(int a, int b) {
        return a / b;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            Callable<Integer> task = () -> divide(10, 0);
            Future<Integer> f = pool.submit(task);
            System.out.println(f.get());
        } finally {
            pool.shutdown();
        }
    }
}
