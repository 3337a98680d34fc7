// Go's goroutines as a server: echo, or HTTP with a handler of 200 ms, as in src/serve.rs. It says its address and
// serves until its input ends.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const handler = 200 * time.Millisecond

var answer = []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

func echo(stream net.Conn) {
	defer stream.Close()
	buffer := make([]byte, 1024)
	for {
		count, err := stream.Read(buffer)
		if err != nil {
			return
		}
		if _, err := stream.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func http(stream net.Conn) {
	defer stream.Close()
	buffer, filled := make([]byte, 1024), 0
	for {
		count, err := stream.Read(buffer[filled:])
		if err != nil {
			return
		}
		filled += count
		for {
			head := bytes.Index(buffer[:filled], []byte("\r\n\r\n"))
			if head < 0 {
				break
			}
			copy(buffer, buffer[head+4:filled])
			filled -= head + 4
			time.Sleep(handler)
			if _, err := stream.Write(answer); err != nil {
				return
			}
		}
	}
}

func main() {
	serve := echo
	if len(os.Args) > 1 && os.Args[1] == "http" {
		serve = http
	}
	// Go sets TCP_NODELAY by itself.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	go func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(stream)
		}
	}()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}
