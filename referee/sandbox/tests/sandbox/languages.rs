//! Programs of every language run as they do without a sandbox: threads, processes, shared
//! memory, files, sockets of their own.

use std::{ffi::OsString, path::Path, process::Command};

use referee_sandbox::{Program, ProgramEnd};

use crate::common::{kinds, open_folder, run, sandbox, script};

const PYTHON: &str = "\
import multiprocessing, os, socket, subprocess, tempfile, threading
from multiprocessing import shared_memory
def double(number): return number * 2
assert open('/dev/urandom', 'rb').read(8) and os.urandom(8)
threads = [threading.Thread(target=double, args=[1]) for _ in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with multiprocessing.get_context('fork').Pool(3) as pool: assert pool.map(double, [1, 2]) == [2, 4]
memory = shared_memory.SharedMemory(create=True, size=100)
memory.buf[0] = 7
other = shared_memory.SharedMemory(memory.name)
assert other.buf[0] == 7
memory.unlink()
assert subprocess.run(['sh', '-c', 'echo hi | cat'], capture_output=True).stdout == b'hi\\n'
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
client.send(b'x')
assert listener.accept()[0].recv(1) == b'x'
with tempfile.NamedTemporaryFile() as file: file.write(b'x')
open(os.path.expanduser('~/x'), 'w').write('x')
assert open('/proc/self/status').read() and open('/proc/cpuinfo').read() and os.cpu_count()
print('well')";

const NODE: &str = "\
const { Worker } = require('worker_threads'), net = require('net'), fs = require('fs');
const { execFileSync } = require('child_process');
fs.writeFileSync(require('os').tmpdir() + '/x', require('crypto').randomBytes(9));
if (execFileSync('echo', ['hi']).toString() !== 'hi\\n') process.exit(2);
const server = net.createServer(socket => socket.end('x')).listen(0, '127.0.0.1', () =>
  net.connect(server.address().port, '127.0.0.1').on('data', () => {
    server.close();
    new Worker(`require('worker_threads').parentPort.postMessage(1)`, { eval: true })
      .on('message', () => console.log('well'));
  }));";

const JAVA: &str = "\
import java.net.*; import java.nio.file.*; import java.util.stream.*;
class Bot {
  public static void main(String[] arguments) throws Exception {
    Files.write(Files.createTempFile(\"x\", \"y\"), new byte[9]);
    if (IntStream.range(0, 999).parallel().sum() != 498501) System.exit(2);
    var listener = new ServerSocket(0, 5, InetAddress.getByName(\"127.0.0.1\"));
    var client = new Socket(\"127.0.0.1\", listener.getLocalPort());
    client.getOutputStream().write(7);
    if (listener.accept().getInputStream().read() != 7) System.exit(3);
    new java.security.SecureRandom().nextInt();
    var echo = new ProcessBuilder(\"echo\", \"hi\").start();
    if (echo.waitFor() != 0) System.exit(4);
    System.out.println(\"well\");
  }
}";

const GO: &str = "\
package main
import (\"crypto/rand\"; \"fmt\"; \"net\"; \"os\"; \"os/exec\"; \"sync\")
func main() {
  var group sync.WaitGroup
  for number := 0; number < 50; number++ { group.Add(1); go func() { group.Done() }() }
  group.Wait()
  rand.Read(make([]byte, 9))
  listener, problem := net.Listen(\"tcp\", \"127.0.0.1:0\")
  if problem != nil { panic(problem) }
  go net.Dial(\"tcp\", listener.Addr().String())
  if _, problem = listener.Accept(); problem != nil { panic(problem) }
  if problem = exec.Command(\"echo\").Run(); problem != nil { panic(problem) }
  if _, problem = os.CreateTemp(\"\", \"x\"); problem != nil { panic(problem) }
  fmt.Println(\"well\")
}";

const CPP: &str = "\
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
int main() {
  std::random_device random; random();
  int seen = 0;
  std::thread([&] { seen = 1; }).join();
  int shared = shm_open(\"/x\", O_RDWR | O_CREAT, 0600);
  if (shared < 0 || ftruncate(shared, 4096) || !std::tmpfile() || !seen) return 2;
  auto *memory = static_cast<char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0));
  memory[0] = 1;
  std::cout << \"well\" << std::endl;
}";

pub(crate) fn runs_well(program: &Program) {
    for kind in kinds() {
        let ran = run(&sandbox(kind), program);
        let ended = (ran.end, &*ran.said);
        assert_eq!(
            ended,
            (ProgramEnd::Exited(0), "well\n"),
            "{kind}: {}",
            ran.errors
        );
    }
}

/// True if a program is installed. Python and a compiler for C++ are what the tests need
/// anyway; the others are tested where they are.
pub(crate) fn is_installed(name: &str) -> bool {
    let there = Command::new(name).arg("--version").output().is_ok();
    if !there {
        eprintln!("{name} is not installed: not tested");
    }
    there
}

pub(crate) fn program(path: &Path, arguments: &[&str], folder: &Path) -> Program {
    let mut program = script("", &[]);
    program.path = path.into();
    program.arguments = arguments.iter().map(OsString::from).collect();
    program.directory = Some(folder.into());
    program.limits.memory = Some(2 << 30);
    program
}

pub(crate) fn compile(compiler: &str, arguments: &[&str], folder: &Path) {
    let output = Command::new(compiler)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn python_runs_unchanged() {
    runs_well(&script(PYTHON, &[]));
}

#[test]
fn python_is_found_as_a_user_names_it() {
    let mut program = script("print('well')", &[]);
    program.path = "python3".into();
    runs_well(&program);
}

#[test]
fn node_runs_unchanged() {
    if is_installed("node") {
        runs_well(&program(Path::new("node"), &["-e", NODE], Path::new("/")));
    }
}

#[test]
fn java_runs_unchanged() {
    if is_installed("javac") && is_installed("java") {
        let folder = open_folder();
        std::fs::write(folder.path().join("Bot.java"), JAVA).unwrap();
        compile("javac", &["Bot.java"], folder.path());
        runs_well(&program(
            Path::new("java"),
            &["-cp", ".", "Bot"],
            folder.path(),
        ));
    }
}

#[test]
fn go_runs_unchanged() {
    if is_installed("go") {
        let folder = open_folder();
        std::fs::write(folder.path().join("bot.go"), GO).unwrap();
        compile("go", &["build", "-o", "bot", "bot.go"], folder.path());
        runs_well(&program(Path::new("./bot"), &[], folder.path()));
    }
}

#[test]
fn cpp_runs_unchanged() {
    let folder = open_folder();
    std::fs::write(folder.path().join("bot.cpp"), CPP).unwrap();
    compile("g++", &["-pthread", "-o", "bot", "bot.cpp"], folder.path());
    runs_well(&program(Path::new("./bot"), &[], folder.path()));
}
