//! A container engine of the tests' own: Docker on a socket in a new folder, gone when they are.

use std::{
    env, fs,
    io::Write as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Output, Stdio},
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};

use nix::sched::{CloneFlags, setns};
use parking_lot::Mutex;

use crate::vocabulary::*;

/// Name of the variable that tells the tests where to look for an engine before they start one:
/// `unix:///PATH`.
const VARIABLE: &str = "ARENA_TEST_DOCKER";
const ABSENT: &str = "dockerd is not installed, and bots in containers are tested on a real engine. \
    Install it (Debian: apt-get install docker.io; nothing needs to be set up or running) and run \
    the tests as root, or set ARENA_TEST_DOCKER=unix:///PATH to the socket of an engine that they \
    may use";
/// Longest time that it may take to start.
const START: Duration = Duration::from_secs(120);

/// Runs an engine until its standard input ends, which it does when we let go of it or die in
/// whatever way. `$1` is an empty folder. Its bridges, its rules of the firewall and the ports that
/// it publishes are in a network of its own. Of its usual pools of addresses there are 31: too few for
/// the networks of deployments that are tested side by side.
const KEEPER: &str = r#"
trap '' INT TERM HUP
unshare --net sh -c 'ip link set lo up && exec dockerd "$@"' sh \
    --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" \
    --default-address-pool base=10.128.0.0/12,size=24 \
    --host "unix://$1/docker.sock" >"$1/log" 2>&1 &
engine=$!
cat >/dev/null
kill "$engine"
wait "$engine"
[ -e "$1/kept" ] || rm -rf "$1"
"#;

/// The engine, and the images that it has.
pub(crate) struct Engine {
    socket: PathBuf,
    keeper: Option<(Child, ChildStdin)>,
}

/// The engine of this test run.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::start)
}

impl Engine {
    fn start() -> Self {
        if let Ok(host) = env::var(VARIABLE) {
            let socket = host.strip_prefix("unix://").expect(ABSENT);
            return Self {
                socket: socket.into(),
                keeper: None,
            };
        }
        Self::private("shared")
    }

    /// One that nobody else uses, so that it may be stopped.
    pub(crate) fn private(name: &str) -> Self {
        let installed = Command::new("dockerd").arg("--version").output();
        assert!(
            installed.is_ok_and(|said| said.status.success()),
            "{ABSENT}"
        );
        // A socket's path may have 107 bytes.
        let folder = format!("arena-docker-{}-{name}", std::process::id());
        let folder = env::temp_dir().join(folder);
        fs::create_dir(&folder).unwrap();
        let mut engine = Self {
            socket: folder.join("docker.sock"),
            keeper: None,
        };
        engine.begin();
        engine
    }

    fn folder(&self) -> &Path {
        self.socket.parent().unwrap()
    }

    /// Starts it with what it had.
    pub(crate) fn begin(&mut self) {
        let _ = fs::remove_file(self.folder().join("kept"));
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(self.folder())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let held = keeper.stdin.take().unwrap();
        self.keeper = Some((keeper, held));
        let deadline = Instant::now() + START;
        while !self.command(&["version"]).status.success() {
            let log = || fs::read_to_string(self.folder().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "{ABSENT}\n{}", log());
            sleep(Duration::from_millis(100));
        }
    }

    /// Stops it as an operator does; what it has is kept.
    pub(crate) fn stop(&mut self) {
        fs::write(self.folder().join("kept"), "").unwrap();
        let (mut keeper, held) = self.keeper.take().unwrap();
        drop(held);
        keeper.wait().unwrap();
    }

    /// Address at which programs find it.
    pub(crate) fn host(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Text of a page that the engine's machine is asked for; no text where it does not answer.
    pub(crate) fn fetch(&self, url: &str) -> String {
        text(&self.curl().args(["-sSf", url]).output().unwrap().stdout)
    }

    /// True if a server answers the engine's machine by `grpc.health.v1` that it serves.
    pub(crate) fn is_serving(&self, url: &str) -> bool {
        let mut curl = self.curl();
        curl.args(["-sS", "--http2-prior-knowledge", "--max-time", "2"]);
        curl.args(["-H", "content-type: application/grpc", "-H", "te: trailers"]);
        curl.args(["--data-binary", "@-"]);
        curl.arg(format!("{url}/grpc.health.v1.Health/Check"));
        curl.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut curl = curl.spawn().unwrap();
        // A message of gRPC: not compressed, of no bytes.
        curl.stdin.take().unwrap().write_all(&[0; 5]).unwrap();
        let answer = curl.wait_with_output().unwrap().stdout;
        // Of two bytes: the first field is SERVING.
        answer == [0, 0, 0, 0, 2, 8, 1]
    }

    /// The program curl, on the engine's machine.
    fn curl(&self) -> Command {
        if self.keeper.is_none() {
            return Command::new("curl");
        }
        let pid = fs::read_to_string(self.folder().join("pid")).unwrap();
        let mut inside = Command::new("nsenter");
        inside.args(["--net", "--target", pid.trim(), "curl"]);
        inside
    }

    /// A listener on the engine's machine, which its containers reach by this address of a network.
    pub(crate) fn listen(&self, network: &str) -> TcpListener {
        let gateway = "{{(index .IPAM.Config 0).Gateway}}";
        let address = self.run(&["network", "inspect", "--format", gateway, network]);
        let bind = move || TcpListener::bind((address, 0)).unwrap();
        if self.keeper.is_none() {
            return bind();
        }
        let pid = fs::read_to_string(self.folder().join("pid")).unwrap();
        let machine = fs::File::open(format!("/proc/{}/ns/net", pid.trim())).unwrap();
        // A socket stays in the network that its thread was in.
        let binding = std::thread::spawn(move || {
            setns(machine, CloneFlags::CLONE_NEWNET).unwrap();
            bind()
        });
        binding.join().unwrap()
    }

    /// Runs `docker`.
    pub(crate) fn command(&self, words: &[&str]) -> Output {
        let mut docker = Command::new("docker");
        docker.args(["--host", &self.host()]).args(words);
        docker.stdin(Stdio::null()).output().expect(ABSENT)
    }

    /// Output of `docker`, which must succeed.
    pub(crate) fn run(&self, words: &[&str]) -> String {
        let said = self.command(words);
        let (out, err) = (text(&said.stdout), text(&said.stderr));
        assert!(said.status.success(), "docker {words:?}: {err}");
        out.trim().to_owned()
    }

    /// The containers that there are, running or not, whose names begin so.
    pub(crate) fn containers(&self, begins: &str) -> Vec<String> {
        let names = self.run(&["ps", "--all", "--format", "{{.Names}}"]);
        let names = names.lines().filter(|name| name.starts_with(begins));
        names.map(str::to_owned).collect()
    }

    /// An image of the villains: the program and the libraries that it needs, nothing else.
    pub(crate) fn villain(&self) -> &'static str {
        const IMAGE: &str = "villain";
        static MAKING: Mutex<()> = Mutex::new(());
        let _making = MAKING.lock();
        if !self.command(&["image", "inspect", IMAGE]).status.success() {
            self.import(IMAGE, &villain_program(), r#"ENTRYPOINT ["/bot"]"#);
        }
        IMAGE
    }

    /// The same behind the init of our images.
    pub(crate) fn villain_with_init(&self) -> &'static str {
        const IMAGE: &str = "villain-with-init";
        let init = xtask_program().with_file_name("bot-init");
        let programs = [("bot", &*villain_program()), ("init", &*init)];
        self.import_all(IMAGE, &programs, r#"ENTRYPOINT ["/init", "/bot"]"#);
        IMAGE
    }

    /// Makes an image of one program, `/bot`, and the libraries that it needs.
    pub(crate) fn import(&self, name: &str, program: &Path, change: &str) {
        self.import_all(name, &[("bot", program)], change);
    }

    /// The same of several programs, each with its name in the image.
    pub(crate) fn import_all(&self, name: &str, programs: &[(&str, &Path)], change: &str) {
        let root = tempfile::tempdir().unwrap();
        for (name, program) in programs {
            fs::copy(program, root.path().join(name)).unwrap();
            let needs = Command::new("ldd").arg(program).output().unwrap();
            for word in text(&needs.stdout).split_whitespace() {
                if word.starts_with('/') {
                    let inside = root.path().join(word.trim_start_matches('/'));
                    fs::create_dir_all(inside.parent().unwrap()).unwrap();
                    fs::copy(word, inside).unwrap();
                }
            }
        }
        let archive = root.path().with_extension("tar");
        let mut tar = Command::new("tar");
        let packed = tar
            .arg("-C")
            .arg(root.path())
            .arg("-cf")
            .arg(&archive)
            .arg(".");
        assert!(packed.status().unwrap().success());
        let imported = archive.to_str().unwrap();
        self.run(&["import", "--change", change, imported, name]);
        fs::remove_file(archive).unwrap();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some((mut keeper, held)) = self.keeper.take() {
            drop(held);
            let _ = keeper.wait();
        }
    }
}
