// Go's goroutines as a contestant. Workloads, arguments and output are those of src/lib.rs.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

func number(place int, standard int) int {
	if len(os.Args) <= place {
		return standard
	}
	n, err := strconv.Atoi(os.Args[place])
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: `%s` is not a whole number\n", os.Args[place])
		os.Exit(2)
	}
	return n
}

func all(count int, body func()) {
	var group sync.WaitGroup
	group.Add(count)
	for range count {
		go func() {
			defer group.Done()
			body()
		}()
	}
	group.Wait()
}

func spawnJoin(threads int) {
	for range threads / 1000 {
		all(1000, func() {})
	}
}

func sleepAll(threads int, pause time.Duration) {
	var group sync.WaitGroup
	group.Add(threads)
	start := time.Now()
	for range threads {
		go func() {
			time.Sleep(pause)
			group.Done()
		}()
	}
	if threads > 1 {
		fmt.Printf("create_ms=%.1f ", float64(time.Since(start).Nanoseconds())/1e6)
	}
	group.Wait()
}

func yield(threads, turns int) {
	all(threads, func() {
		for range turns {
			runtime.Gosched()
		}
	})
}

func channel(turns int) {
	there, back := make(chan int, 1), make(chan int, 1)
	go func() {
		for turn := range there {
			back <- turn
		}
	}()
	all(1, func() {
		for turn := range turns {
			there <- turn
			<-back
		}
		close(there)
	})
}

func lock(threads, turns int, yielding bool) {
	var mutex sync.Mutex
	count := 0
	all(threads, func() {
		for range turns {
			mutex.Lock()
			count++
			if yielding {
				runtime.Gosched()
			}
			mutex.Unlock()
		}
	})
	if count != threads*turns {
		panic("lost an update")
	}
}

func semaphore(tasks int) {
	permits := make(chan struct{}, 50)
	all(tasks, func() {
		permits <- struct{}{}
		time.Sleep(time.Millisecond)
		<-permits
	})
}

func fairness(turns int) {
	var mutex, results sync.Mutex
	var longest []time.Duration
	all(100, func() {
		most := time.Duration(0)
		for range turns {
			start := time.Now()
			mutex.Lock()
			most = max(most, time.Since(start))
			runtime.Gosched()
			mutex.Unlock()
		}
		results.Lock()
		longest = append(longest, most)
		results.Unlock()
	})
	sort.Slice(longest, func(a, b int) bool { return longest[a] < longest[b] })
	fmt.Printf("max_us=%d median_us=%d ", longest[99].Microseconds(), longest[50].Microseconds())
}

func peak() string {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			return strings.Fields(rest)[0]
		}
	}
	return "0"
}

func main() {
	workers, err := strconv.Atoi(os.Getenv("WORKERS"))
	if err != nil {
		workers = 2
	}
	runtime.GOMAXPROCS(workers)
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	var run func(part int)
	operations := 0
	switch name {
	case "spawn-join":
		operations = number(2, 1_000_000)
		run = func(part int) { spawnJoin(operations / part) }
	case "sleep":
		operations = number(2, 100_000)
		pause := time.Duration(number(3, 1000)) * time.Millisecond
		run = func(part int) {
			if part == 1 {
				sleepAll(operations, pause)
			} else {
				sleepAll(1, 0)
			}
		}
	case "yield":
		threads, turns := number(2, 1000), number(3, 1000)
		operations = threads * turns
		run = func(part int) { yield(threads, turns/part) }
	case "channel":
		operations = number(2, 500_000)
		run = func(part int) { channel(operations / part) }
	case "lock", "lock-yield":
		threads, turns := number(2, 1000), number(3, 1000)
		operations = threads * turns
		run = func(part int) { lock(threads, turns/part, name == "lock-yield") }
	case "semaphore":
		operations = number(2, 10_000)
		run = func(part int) { semaphore(operations / part) }
	case "fairness":
		turns := number(2, 2000)
		operations = 100 * turns
		run = func(part int) { fairness(turns / part) }
	default:
		// No park permit, and so no timer around one: goroutines have nothing that comes near.
		fmt.Println("absent")
		return
	}
	run(10)
	start := time.Now()
	run(1)
	took := time.Since(start)
	fmt.Printf("ns=%.1f ms=%.1f peak_kib=%s\n", float64(took.Nanoseconds())/float64(operations), float64(took.Nanoseconds())/1e6, peak())
}
