//! An arena that serves and its workers, as processes of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::vocabulary::*;

/// An arena that serves, and its workers; all are killed when this is dropped.
pub(crate) struct Site {
    pub(crate) arena: Arena,
    port: u16,
    /// Location of its store, if it is not a file in its folder.
    store: Option<String>,
    /// The server and the workers, each with how it is started.
    pub(crate) processes: Vec<Process>,
}

/// A process, and how it is started.
pub(crate) struct Process {
    program: PathBuf,
    line: String,
    pub(crate) child: Child,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::with(Arena::new(), None)
    }

    /// Without walls around bots, for those that write down what the test wants to know.
    pub(crate) fn without_walls() -> Self {
        Self::with(Arena::new().without_walls(), None)
    }

    /// With this engine for bots in containers.
    pub(crate) fn with_engine(host: String) -> Self {
        Self::with(Arena::new().with_engine(host), None)
    }

    /// With a store on a server.
    pub(crate) fn with_store(url: &str) -> Self {
        Self::with(Arena::new(), Some(url.to_owned()))
    }

    fn with(arena: Arena, store: Option<String>) -> Self {
        serve_program();
        // A port that nobody has, which a restarted arena has again.
        Self {
            arena,
            port: free_address().port(),
            store,
            processes: Vec::new(),
        }
    }

    pub(crate) fn cup(&self, file: &str, game: &str, more: &str, bots: &[&str]) {
        self.tournament(
            file,
            game,
            &format!("shape = \"round-robin\"\n{more}"),
            bots,
        );
    }

    pub(crate) fn knockout(&self, file: &str, game: &str, bots: &[&str]) {
        self.tournament(
            file,
            game,
            "shape = \"single-elimination\"\ndeals = 1",
            bots,
        );
    }

    fn tournament(&self, file: &str, game: &str, more: &str, bots: &[&str]) {
        let mut text = format!("game = \"{game}\"\n{more}\n");
        for (name, spec) in ('a'..).zip(bots) {
            text += &format!("[[bots]]\nname = \"{name}\"\nbot = {}\n", json!(spec));
        }
        fs::write(self.arena.path(file), text).unwrap();
    }

    /// Adds a bot that travels: the program of villains, which plays `kind`. `more` are options of
    /// `arena bots add`.
    pub(crate) fn add_villain(&self, name: &str, kind: &str, more: &str) {
        let folder = self.arena.path("bots");
        fs::create_dir(&folder).unwrap();
        fs::copy(villain_program(), folder.join("bot")).unwrap();
        self.run(&format!(
            "bots add {name} --dir bots --run \"./bot {kind}\" --game connect-four {more}"
        ));
        // What travels is in the store.
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Adds a bot that travels, and waits in games that a file in a folder names. Gives the folder.
    pub(crate) fn add_held(&self, name: &str, kind: &str) -> PathBuf {
        let hold = self.arena.path("hold");
        fs::create_dir(&hold).unwrap();
        let kind = format!("{kind} --hold '{}'", hold.display());
        self.add_villain(name, &kind, "");
        hold
    }

    /// Address at which the arena listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_arena")), line)
    }

    /// The same of another program.
    pub(crate) fn command_of(&self, program: &Path, line: &str) -> Command {
        let mut command = self.arena.command_of(program, line);
        command.env("ARENA_CACHE", self.arena.path("cache"));
        if let Some(store) = &self.store {
            command.env("ARENA_STORE", store);
        }
        command
    }

    pub(crate) fn run(&self, line: &str) -> String {
        done(&self.command(line).output().unwrap())
    }

    fn start(&mut self, program: &Path, line: String) -> usize {
        let child = self.launch(self.command_of(program, &line));
        self.keep(program, line, child)
    }

    /// Kills this process too when this is dropped.
    pub(crate) fn keep(&mut self, program: &Path, line: String, child: Child) -> usize {
        let program = program.to_owned();
        self.processes.push(Process {
            program,
            line,
            child,
        });
        self.processes.len() - 1
    }

    /// Starts a command that writes into the log.
    pub(crate) fn launch(&self, mut command: Command) -> Child {
        let mut log = fs::File::options();
        let log = log.create(true).append(true);
        let log = log.open(self.arena.path("log")).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// Output of the server and the workers.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.arena.path("log")).unwrap_or_default()
    }

    /// `arena serve` with these words, and leases that run out soon.
    pub(crate) fn serve(&mut self, more: &str) -> usize {
        self.serve_leases("2s", more)
    }

    /// `arena serve` with leases of this time.
    pub(crate) fn serve_leases(&mut self, lease: &str, more: &str) -> usize {
        let port = self.port;
        let line = format!("serve --listen 127.0.0.1:{port} --lease {lease} {more}");
        self.start(Path::new(env!("CARGO_BIN_EXE_arena")), line)
    }

    /// A worker with these words.
    pub(crate) fn worker(&mut self, more: &str) -> usize {
        self.worker_at(&self.url(), more)
    }

    /// A worker of the arena at this URL.
    pub(crate) fn worker_at(&mut self, url: &str, more: &str) -> usize {
        let line = format!("worker --arena {url} {more}");
        self.start(Path::new(env!("CARGO_BIN_EXE_arena")), line)
    }

    /// A worker that is the referee's own program.
    pub(crate) fn referee(&mut self, more: &str) -> usize {
        let line = format!("work --arena {} {more}", self.url());
        self.start(&referee_program(), line)
    }

    /// The same where no engine of containers is found.
    pub(crate) fn referee_without_engine(&mut self, more: &str) -> usize {
        let line = format!("work --arena {} {more}", self.url());
        let mut command = self.command_of(&referee_program(), &line);
        command.env("DOCKER_HOST", "unix:///there/is/none");
        let child = self.launch(command);
        self.keep(&referee_program(), line, child)
    }

    /// Kills a process with all that has not been sent.
    pub(crate) fn kill(&mut self, at: usize) {
        let child = &mut self.processes[at].child;
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Kills a process and starts it again.
    pub(crate) fn restart(&mut self, at: usize) {
        self.kill(at);
        let Process { program, line, .. } = &self.processes[at];
        let command = self.command_of(program, line);
        self.processes[at].child = self.launch(command);
    }

    /// Number of stored games of a tournament, and true if it is still played.
    pub(crate) fn progress(&self, name: &str) -> (u64, bool) {
        let one = self.about(name);
        (one["games"].as_u64().unwrap(), one["state"] != "over")
    }

    pub(crate) fn state(&self, name: &str) -> String {
        self.about(name)["state"].as_str().unwrap().to_owned()
    }

    /// Entry of one tournament in the list of tournaments.
    fn about(&self, name: &str) -> Value {
        let list = events(&self.run("tournament list --format json"));
        let one = list.into_iter().find(|one| one["tournament"] == *name);
        one.unwrap()
    }

    pub(crate) fn wait_for(&self, name: &str, state: &str) {
        wait_until_or(
            &format!("{name} is {state}"),
            || self.log(),
            || self.state(name) == state,
        );
    }

    pub(crate) fn rows(&self, name: &str) -> Value {
        let line = format!("tournament status {name} --format json");
        let output = self.command(&line).output().unwrap();
        let mut rows = of_type(&events(&out(&output)), "standings")[0]["rows"].clone();
        for row in rows.as_array_mut().unwrap() {
            // How long they thought is another time in every run.
            row.as_object_mut().unwrap().remove("thinking");
            row.as_object_mut().unwrap().remove("thinking_us");
        }
        rows
    }

    /// The table of a tournament is that of this other one, which was played alone, and its games
    /// are proved.
    pub(crate) fn is_as(&self, name: &str, alone: &str) {
        // These say more than a table where they differ.
        let (games, expected) = (self.results(name), self.results(alone));
        for (game, expected) in games.iter().zip(&expected) {
            assert_eq!(game, expected, "{name}\n{}", self.log());
        }
        assert_eq!(games.len(), expected.len());
        assert_eq!(self.rows(name), self.rows(alone));
        let verified = self.run(&format!("tournament verify {name}"));
        assert!(verified.contains("proved, "), "{verified}");
    }

    /// Result of each game of a tournament.
    fn results(&self, name: &str) -> Vec<Value> {
        let export = self.run(&format!("tournament export {name}"));
        let mut games = of_type(&events(&export), "game");
        for game in &mut games {
            let game = game.as_object_mut().unwrap();
            // What is measured, who played it, and the record, whose hash is there too.
            for other in [
                "thought_us",
                "finished_unix_ms",
                "counters",
                "worker",
                "record",
            ] {
                game.remove(other);
            }
        }
        games
    }

    /// Course of each game of a tournament, whoever played it.
    pub(crate) fn courses(&self, name: &str) -> Vec<Value> {
        let games = self.results(name).into_iter();
        games.map(|mut game| game["course"].take()).collect()
    }

    pub(crate) fn workers(&self) -> Vec<Value> {
        of_type(&events(&self.run("workers --format json")), "worker")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for Process { child, .. } in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
        // What was unpacked is read-only.
        let _ = Command::new("chmod")
            .args(["-R", "u+w"])
            .arg(self.arena.path("."))
            .status();
    }
}
