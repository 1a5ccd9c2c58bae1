//! A PostgreSQL server of a test's own, which may be killed. The one that `cargo xtask test`
//! starts is shared by all tests.

use std::{
    env, fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        net::UnixStream,
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, User},
};
use sqlx::{Connection as _, Executor as _};
use tempfile::TempDir;

use crate::vocabulary::*;

/// A server that listens on a socket in its own folder, and is gone when this is dropped.
pub(crate) struct Postgres {
    programs: PathBuf,
    folder: TempDir,
    /// The user that it runs as if we are root: it refuses to run as root.
    owner: Option<(u32, u32)>,
    /// Its own, also in the name of its socket.
    port: u16,
    settings: Vec<String>,
    server: Child,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        Self::start_with(|_, _| vec!["listen_addresses=".to_owned()])
    }

    /// One that also listens on 127.0.0.1: with the certificate `localhost` of this folder, for
    /// clients whose certificate names the user and is signed by the folder's authority.
    pub(crate) fn start_with_tls(certificates: &Path) -> Self {
        Self::start_with(|folder, owner| {
            for file in ["ca.pem", "localhost.pem", "localhost.key"] {
                fs::copy(certificates.join(file), folder.join(file)).unwrap();
                if let Some((user, group)) = owner {
                    chown(folder.join(file), Some(user), Some(group)).unwrap();
                }
            }
            let rules = "local all all trust\nhostssl all all 127.0.0.1/32 cert\n";
            fs::write(folder.join("data/pg_hba.conf"), rules).unwrap();
            let path = |file: &str| folder.join(file).display().to_string();
            vec![
                "listen_addresses=127.0.0.1".to_owned(),
                "ssl=on".to_owned(),
                format!("ssl_ca_file={}", path("ca.pem")),
                format!("ssl_cert_file={}", path("localhost.pem")),
                format!("ssl_key_file={}", path("localhost.key")),
            ]
        })
    }

    /// With the settings that this finds right for the folder and its owner.
    fn start_with(settings: impl FnOnce(&Path, Option<(u32, u32)>) -> Vec<String>) -> Self {
        let programs = programs().expect(
            "this test needs PostgreSQL (Debian: apt-get install postgresql; nothing needs to be \
             set up or running); `--skip on_postgres` leaves it out",
        );
        let folder = tempfile::tempdir().unwrap();
        let owner = other_user(folder.path());
        if let Some((user, group)) = owner {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let mut initdb = command(&programs, "initdb", folder.path(), owner);
        initdb.args(["-D", "data", "-U", "arena", "-A", "trust", "-E", "UTF8"]);
        initdb.args(["--locale=C", "--no-sync"]);
        done(&initdb.output().unwrap());
        let settings = settings(folder.path(), owner);
        let port = free_address().port();
        let server = serve(&programs, folder.path(), owner, port, &settings);
        let mut postgres = Self {
            programs,
            folder,
            owner,
            port,
            settings,
            server,
        };
        postgres.wait();
        postgres
    }

    pub(crate) fn url(&self) -> String {
        let (port, folder) = (self.port, self.folder.path().display());
        format!("postgres://arena@localhost:{port}/postgres?host={folder}")
    }

    /// Port at which it listens on 127.0.0.1 if it does.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server with all of its sessions, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        self.server = self.serve();
        self.wait();
    }

    fn serve(&self) -> Child {
        serve(
            &self.programs,
            self.folder.path(),
            self.owner,
            self.port,
            &self.settings,
        )
    }

    /// Waits until it answers.
    fn wait(&mut self) {
        sqlx::any::install_default_drivers();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let url = self.url();
        wait_until("PostgreSQL answers", || {
            if self.server.try_wait().unwrap().is_some() {
                // It does not start while processes of the one that was killed are still there.
                self.server = self.serve();
            }
            let asked = runtime.block_on(async {
                let mut session = sqlx::AnyConnection::connect(&url).await?;
                session.execute("SELECT 1").await?;
                session.close().await
            });
            asked.is_ok()
        });
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It ends at once, and its processes with it.
        let _ = kill(Pid::from_raw(self.server.id() as i32), Signal::SIGQUIT);
        let _ = self.server.wait();
    }
}

fn serve(
    programs: &Path,
    folder: &Path,
    owner: Option<(u32, u32)>,
    port: u16,
    settings: &[String],
) -> Child {
    let mut postgres = command(programs, "postgres", folder, owner);
    postgres
        .args(["-D", "data", "-c", "fsync=off", "-p", &port.to_string()])
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .arg("-k")
        .arg(folder);
    postgres.spawn().unwrap()
}

/// A program of PostgreSQL, in the folder of the server.
fn command(programs: &Path, name: &str, folder: &Path, owner: Option<(u32, u32)>) -> Command {
    let mut log = fs::File::options();
    let log = log.create(true).append(true).open(folder.join("log"));
    let mut command = Command::new(programs.join(name));
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.unwrap());
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    command
}

/// The folder with `initdb` and `postgres`. Debian has it outside of the path, a folder a version.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    let has_both = |folder: &PathBuf| {
        let mut programs = ["initdb", "postgres"].iter();
        programs.all(|program| folder.join(program).is_file())
    };
    folders.into_iter().find(has_both)
}

/// The user and group to run as if we are root, as the owner of the folder shows.
fn other_user(folder: &Path) -> Option<(u32, u32)> {
    if fs::metadata(folder).unwrap().uid() != 0 {
        return None;
    }
    let user = ["postgres", "nobody"].map(|name| User::from_name(name).unwrap());
    let user = user.into_iter().flatten().next().expect("a user for it");
    Some((user.uid.as_raw(), user.gid.as_raw()))
}

/// PgBouncer in front of a server, which is gone when this is dropped.
struct Bouncer {
    process: Child,
    folder: TempDir,
    port: u16,
}

impl Bouncer {
    fn start(postgres: &Postgres, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_address().port();
        let (server, own) = (postgres.folder.path().display(), folder.path().display());
        let configuration = format!(
            "[databases]\npostgres = host={server} port={} user=arena\n\
             [pgbouncer]\nlisten_port = {port}\nunix_socket_dir = {own}\nauth_type = any\n{settings}\n",
            postgres.port
        );
        fs::write(folder.path().join("pgbouncer.ini"), configuration).unwrap();
        let path = env::var("PATH").unwrap_or_default();
        let mut pgbouncer = Command::new("pgbouncer");
        // Debian has it where an ordinary user does not look.
        pgbouncer.env("PATH", format!("{path}:/usr/sbin"));
        if let Some((user, group)) = postgres.owner {
            chown(folder.path(), Some(user), Some(group)).unwrap();
            pgbouncer.uid(user).gid(group);
        }
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let process = pgbouncer
            .current_dir(folder.path())
            .arg("pgbouncer.ini")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("this test needs PgBouncer (Debian: apt-get install pgbouncer)");
        let bouncer = Self {
            process,
            folder,
            port,
        };
        let socket = bouncer.folder.path().join(format!(".s.PGSQL.{port}"));
        wait_until("PgBouncer listens", || UnixStream::connect(&socket).is_ok());
        bouncer
    }

    fn url(&self) -> String {
        let (port, folder) = (self.port, self.folder.path().display());
        format!("postgres://arena@localhost:{port}/postgres?host={folder}")
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_pool_that_lends_its_connections_is_refused_in_words_on_postgres() {
    let postgres = Postgres::start();
    let arena = Arena::new();
    let run = |bouncer: &Bouncer, line: &str| {
        let mut command = arena.command(line);
        command.env("ARENA_STORE", bouncer.url()).output().unwrap()
    };
    let usual = "ignore_startup_parameters = extra_float_digits";
    for mode in ["transaction", "statement"] {
        let bouncer = Bouncer::start(&postgres, &format!("pool_mode = {mode}\n{usual}"));
        let output = run(&bouncer, "tournament list");
        refused(
            &output,
            "give the server's own address, or set pool_mode = session",
        );
    }
    let as_it_comes = Bouncer::start(&postgres, "pool_mode = session");
    let output = run(&as_it_comes, "tournament list");
    refused(&output, "PgBouncer: ignore_startup_parameters");

    let bouncer = Bouncer::start(&postgres, &format!("pool_mode = session\n{usual}"));
    let cup = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 1\n\
               [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
               [[bots]]\nname = \"b\"\nbot = \"house:random\"\n";
    fs::write(arena.path("cup.toml"), cup).unwrap();
    done(&run(&bouncer, "tournament run cup.toml"));
}
