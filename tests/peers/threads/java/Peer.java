// The JDK's virtual threads as a contestant. Workloads, arguments and output are those of src/lib.rs.
//
// Their factory is asked for by name, so that a JDK 17 can compile what a JDK 21 runs.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Peer {
    interface Body {
        void run() throws Exception;
    }

    static ThreadFactory virtual;
    static int count;

    static Thread start(Body body) {
        Thread thread = virtual.newThread(() -> {
            try {
                body.run();
            } catch (Exception problem) {
                throw new RuntimeException(problem);
            }
        });
        thread.start();
        return thread;
    }

    static void all(int threads, Body body) throws Exception {
        List<Thread> started = new ArrayList<>(threads);
        for (int i = 0; i < threads; i++) {
            started.add(start(body));
        }
        for (Thread thread : started) {
            thread.join();
        }
    }

    static void sleepAll(int threads, long pause) throws Exception {
        List<Thread> started = new ArrayList<>(threads);
        long start = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            started.add(start(() -> Thread.sleep(pause)));
        }
        if (threads > 1) {
            System.out.printf("create_ms=%.1f ", (System.nanoTime() - start) / 1e6);
        }
        for (Thread thread : started) {
            thread.join();
        }
    }

    static void channel(int turns) throws Exception {
        ArrayBlockingQueue<Integer> there = new ArrayBlockingQueue<>(1), back = new ArrayBlockingQueue<>(1);
        Thread asks = start(() -> {
            for (int turn = 0; turn < turns; turn++) {
                there.put(turn);
                back.take();
            }
        });
        Thread answers = start(() -> {
            for (int turn = 0; turn < turns; turn++) {
                back.put(there.take());
            }
        });
        asks.join();
        answers.join();
    }

    static volatile int whose;

    static void unpark(int turns, boolean timed) throws Exception {
        Thread[] both = new Thread[2];
        whose = 0;
        for (int me = 0; me < 2; me++) {
            int mine = me;
            both[me] = virtual.newThread(() -> {
                for (int turn = 0; turn < turns; turn++) {
                    while (whose != mine) {
                        if (timed) {
                            LockSupport.parkNanos(3_600_000_000_000L);
                        } else {
                            LockSupport.park();
                        }
                    }
                    whose = 1 - mine;
                    LockSupport.unpark(both[1 - mine]);
                }
            });
        }
        both[0].start();
        both[1].start();
        both[0].join();
        both[1].join();
    }

    static void lock(int threads, int turns, boolean yielding) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        count = 0;
        all(threads, () -> {
            for (int turn = 0; turn < turns; turn++) {
                lock.lock();
                count++;
                if (yielding) {
                    Thread.yield();
                }
                lock.unlock();
            }
        });
        if (count != threads * turns) {
            throw new IllegalStateException("lost an update");
        }
    }

    static void semaphore(int tasks) throws Exception {
        Semaphore permits = new Semaphore(50);
        all(tasks, () -> {
            permits.acquire();
            Thread.sleep(1);
            permits.release();
        });
    }

    static void fairness(int turns) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        List<Long> longest = new ArrayList<>();
        all(100, () -> {
            long most = 0;
            for (int turn = 0; turn < turns; turn++) {
                long start = System.nanoTime();
                lock.lock();
                most = Math.max(most, System.nanoTime() - start);
                Thread.yield();
                lock.unlock();
            }
            synchronized (longest) {
                longest.add(most);
            }
        });
        Long[] sorted = longest.toArray(new Long[0]);
        Arrays.sort(sorted);
        System.out.printf("max_us=%d median_us=%d ", sorted[99] / 1000, sorted[50] / 1000);
    }

    static String[] words;

    static int number(int place, int standard) {
        return words.length > place ? Integer.parseInt(words[place]) : standard;
    }

    interface Run {
        void part(int of) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        words = arguments;
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        virtual = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        int first = number(1, 0), turns = number(2, 1000);
        long operations;
        Run run;
        switch (words[0]) {
            case "spawn-join": {
                int threads = first == 0 ? 1_000_000 : first;
                operations = threads;
                run = of -> {
                    for (int i = 0; i < threads / of / 1000; i++) {
                        all(1000, () -> {});
                    }
                };
                break;
            }
            case "sleep": {
                int threads = first == 0 ? 100_000 : first;
                operations = threads;
                run = of -> sleepAll(of == 1 ? threads : 1, of == 1 ? turns : 0);
                break;
            }
            case "yield": {
                int threads = first == 0 ? 1000 : first;
                operations = (long) threads * turns;
                run = of -> all(threads, () -> {
                    for (int i = 0; i < turns / of; i++) {
                        Thread.yield();
                    }
                });
                break;
            }
            case "channel":
            case "unpark":
            case "timers": {
                int rounds = first == 0 ? 500_000 : first;
                operations = rounds;
                run = of -> {
                    if (words[0].equals("channel")) {
                        channel(rounds / of);
                    } else {
                        unpark(rounds / of, words[0].equals("timers"));
                    }
                };
                break;
            }
            case "lock":
            case "lock-yield": {
                int threads = first == 0 ? 1000 : first;
                operations = (long) threads * turns;
                run = of -> lock(threads, turns / of, words[0].equals("lock-yield"));
                break;
            }
            case "semaphore": {
                int tasks = first == 0 ? 10_000 : first;
                operations = tasks;
                run = of -> semaphore(tasks / of);
                break;
            }
            case "fairness": {
                int rounds = first == 0 ? 2000 : first;
                operations = 100L * rounds;
                run = of -> fairness(rounds / of);
                break;
            }
            default:
                System.out.println("absent");
                return;
        }
        run.part(10);
        long start = System.nanoTime();
        run.part(1);
        double took = System.nanoTime() - start;
        String peak = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .map(line -> line.split("\\s+")[1])
                .findFirst()
                .orElse("0");
        System.out.printf("ns=%.1f ms=%.1f peak_kib=%s%n", took / operations, took / 1e6, peak);
    }
}
