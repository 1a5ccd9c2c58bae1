//! The attempts of a villain beside its game, on whatever machine it runs: to take all of it, and
//! to reach others. One that gets what it should not have says so and gives up.

use std::{
    env,
    fs::{self, File},
    io::{self, Write as _},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use clap::Args;

/// No villain takes more than this of a disk, or starts more processes: the machine may be
/// somebody's.
const MOST_BYTES: usize = 1 << 30;
const MOST_PROCESSES: usize = 5000;
/// Longest wait for the answer of a stranger.
const PATIENCE: Duration = Duration::from_millis(300);
const MIB: usize = 1 << 20;

/// What it tries when it is asked for its first point.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Escapes {
    /// It starts processes until it can't, and gives up if it can start 5,000.
    #[arg(long)]
    forks: bool,
    /// It fills the folders that it may write to, each until it can't, and gives up if one
    /// takes 1 GiB.
    #[arg(long)]
    fills: bool,
    /// It writes so much into the folder of its socket.
    #[arg(long, value_name = "MEBIBYTES", default_value_t = 0)]
    hoards: usize,
    /// It prints so much in one line.
    #[arg(long, value_name = "MEBIBYTES", default_value_t = 0)]
    shouts: usize,
    /// It listens for others, dials these, and gives up if one answers.
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    dials: Vec<SocketAddr>,
    /// It looks for these, and gives up if one is there.
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    seeks: Vec<String>,
}

impl Escapes {
    /// Tries all of it, and ends the process where something works.
    pub(crate) fn try_all(&self) {
        let tries = [
            self.fork(),
            self.fill(),
            self.hoard(),
            self.dial(),
            self.seek(),
        ];
        if let Some(escaped) = tries.into_iter().flatten().next() {
            eprintln!("{escaped}");
            std::process::exit(4);
        }
        self.shout();
    }

    fn fork(&self) -> Option<String> {
        if !self.forks {
            return None;
        }
        let program = env::current_exe().ok()?;
        for _ in 0..MOST_PROCESSES {
            let sleeping = Command::new(&program)
                .args(["slow-start", "--delay", "1h"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            if sleeping.is_err() {
                return None;
            }
        }
        Some(format!("I have started {MOST_PROCESSES} processes"))
    }

    fn fill(&self) -> Option<String> {
        const FOLDERS: [&str; 5] = ["/", "/tmp", "/var/tmp", "/dev/shm", "/root"];
        let folders = FOLDERS.iter().filter(|_| self.fills);
        folders.map(Path::new).find_map(|folder| {
            let mut written = 0;
            for number in 0.. {
                match write(
                    &folder.join(format!("filling-{number}")),
                    MOST_BYTES - written,
                ) {
                    Ok(bytes) => written += bytes,
                    Err(_) => break,
                }
                if written >= MOST_BYTES {
                    return Some(format!("I have written 1 GiB into {}", folder.display()));
                }
            }
            None
        })
    }

    /// Its socket's folder is on the disk of whoever started it.
    fn hoard(&self) -> Option<String> {
        if self.hoards == 0 {
            return None;
        }
        let listen = env::var("BOT_LISTEN").ok()?;
        let folder = Path::new(listen.strip_prefix("unix:")?).parent()?;
        for number in 0.. {
            let left = self.hoards * MIB - number * MIB;
            if left == 0 {
                break;
            }
            write(&folder.join(format!("hoard-{number}")), MIB).ok()?;
        }
        None
    }

    fn dial(&self) -> Option<String> {
        let _listens = TcpListener::bind("0.0.0.0:50051");
        let asks = |to: &SocketAddr| -> io::Result<usize> {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.send_to(b"who is there?", to)?;
            socket.recv(&mut [0; 100])
        };
        let answers =
            |to: &&SocketAddr| TcpStream::connect_timeout(to, PATIENCE).is_ok() || asks(to).is_ok();
        let answered = self.dials.iter().find(answers)?;
        Some(format!("{answered} has answered me"))
    }

    fn seek(&self) -> Option<String> {
        let found = self.seeks.iter().find(|path| fs::metadata(path).is_ok())?;
        Some(format!("I have found {found}"))
    }

    fn shout(&self) {
        let part = [b'!'; MIB];
        let mut out = io::stdout().lock();
        for _ in 0..self.shouts {
            let _ = out.write_all(&part);
        }
        let _ = out.flush();
    }
}

/// Writes a new file, and gives its size.
fn write(path: &Path, most: usize) -> io::Result<usize> {
    let mut file = File::create(path)?;
    let part = [1; MIB];
    let mut written = 0;
    while written < most.min(16 * MIB) {
        file.write_all(&part)?;
        written += part.len();
    }
    Ok(written)
}
