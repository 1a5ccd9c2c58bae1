//! A PostgreSQL server of our own for the tests: it listens on a socket in a new
//! folder, and is gone when we are.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::shell::{Result, capture, command};

/// Variable by which the tests find a server.
pub(crate) const VARIABLE: &str = "ARENA_TEST_POSTGRES";

const ABSENT: &str = "\
PostgreSQL is not installed, and the store is tested on it as well as on SQLite.
Install it (Debian: apt-get install postgresql; nothing needs to be set up or
running), or set ARENA_TEST_POSTGRES to the URL of a database that the tests may
use, or to `none` to leave those tests out.";

/// Makes a database, says that it is ready, and waits until its standard input
/// ends, which it does when we let go of it or die in whatever way. `$1` is where
/// the programs are, `$2` an empty folder.
const KEEPER: &str = r#"
trap '' INT TERM HUP
"$1/initdb" -D "$2/data" -U arena -A trust -E UTF8 --locale=C --no-sync >"$2/log" 2>&1 &&
"$1/pg_ctl" -D "$2/data" -l "$2/log" -w start \
    -o "-k '$2' -c listen_addresses='' -c fsync=off -c max_connections=400" >/dev/null 2>&1 &&
echo ready || tail -n 20 "$2/log"
exec >/dev/null
cat >/dev/null
"$1/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null 2>&1
rm -rf "$2"
"#;

/// True if its programs are there, or not needed.
pub(crate) fn is_met() -> bool {
    env::var_os(VARIABLE).is_some() || programs().is_some()
}

/// A server that runs until this is dropped.
pub(crate) struct Postgres {
    url: String,
    keeper: Option<(Child, ChildStdin)>,
}

impl Postgres {
    /// Starts a server, unless the environment names one.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or does not start.
    pub(crate) fn start() -> Result<Self> {
        if let Ok(url) = env::var(VARIABLE) {
            return Ok(Self { url, keeper: None });
        }
        Self::private()
    }

    fn private() -> Result<Self> {
        let programs = programs().ok_or(ABSENT)?;
        // Not below target: the path of a socket may have 107 bytes only, and
        // whoever PostgreSQL runs as may not be allowed to go there.
        let folder = env::temp_dir().join(format!("arena-postgres-{}", std::process::id()));
        fs::create_dir(&folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
        let mut shell = command("sh");
        shell
            .args(["-c", KEEPER, "postgres-keeper"])
            .args([&programs, &folder])
            .current_dir(&folder)
            // Ctrl-C is for us; the end of our pipe is what it waits for.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some((user, group)) = somebody_else(&folder) {
            // PostgreSQL refuses to run as root.
            chown(&folder, Some(user), Some(group))?;
            shell.uid(user).gid(group);
        }
        let mut keeper = shell.spawn()?;
        let (Some(stdin), Some(stdout)) = (keeper.stdin.take(), keeper.stdout.take()) else {
            return Err("could not talk to the shell that keeps PostgreSQL".into());
        };
        let server = Self {
            url: format!(
                "postgres://arena@localhost/postgres?host={}",
                folder.display()
            ),
            keeper: Some((keeper, stdin)),
        };
        let said: Vec<String> = BufReader::new(stdout)
            .lines()
            .collect::<std::io::Result<_>>()?;
        if said != ["ready"] {
            return Err(format!("could not start PostgreSQL:\n{}", said.join("\n")).into());
        }
        Ok(server)
    }

    /// Tells a `cargo test` where it is, or to leave out what needs it.
    pub(crate) fn tell<'a>(&self, tests: &'a mut Command) -> &'a mut Command {
        if self.url == "none" {
            eprintln!("{VARIABLE}=none: the store is not tested on PostgreSQL");
            tests.args(["--", "--skip", "on_postgres"])
        } else {
            tests.env(VARIABLE, &self.url)
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some((mut keeper, stdin)) = self.keeper.take() {
            drop(stdin);
            // It removes the folder, and who waits for us may look.
            let _ = keeper.wait();
        }
    }
}

/// The folder with `initdb`. Debian has it outside of the path, a folder a version.
fn programs() -> Option<PathBuf> {
    let has_it = |folder: &PathBuf| folder.join("initdb").is_file();
    let path = env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = env::split_paths(&path).find(has_it) {
        return Some(folder);
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> = versions
        .flatten()
        .map(|version| version.path().join("bin"))
        .filter(has_it)
        .collect();
    folders.sort();
    folders.pop()
}

/// The user and group to run as if we are root, as the owner of the folder shows.
fn somebody_else(folder: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    let is_root = fs::metadata(folder).is_ok_and(|folder| folder.uid() == 0);
    if !is_root {
        return None;
    }
    let id = |which: &str| {
        let said = capture(command("id").args([which, "postgres"]))
            .or_else(|_| capture(command("id").args([which, "nobody"])));
        said.ok()?.trim().parse().ok()
    };
    Some((id("-u")?, id("-g")?))
}

#[cfg(test)]
mod on_postgres {
    use super::*;

    #[test]
    fn a_server_that_is_let_go_leaves_nothing() {
        let server = Postgres::private().unwrap();
        let folder = PathBuf::from(server.url.split_once("?host=").unwrap().1);
        let pid = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
        let process = Path::new("/proc").join(pid.lines().next().unwrap());
        // This is empty for a process that has ended and that nobody has waited for.
        let runs = || fs::read(process.join("cmdline")).is_ok_and(|line| !line.is_empty());
        assert!(runs());
        assert!(folder.join(".s.PGSQL.5432").exists());
        drop(server);
        assert!(!folder.exists());
        // Its last act is to remove the file that its end is known by.
        let mut looks = 0;
        while runs() {
            looks += 1;
            assert!(looks < 1_000_000, "it runs on");
            std::thread::yield_now();
        }
    }
}
