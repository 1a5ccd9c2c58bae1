//! `arena contest`: what an organiser does on the machine that has the store, and how those who take
//! part hand in from a terminal.

mod challenge;
mod elsewhere;
mod entry;
mod submit;
mod upload;

use std::{
    fs::File,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use arena_contest::{
    Board, ContestError, ContestRules, EntryDetails, Standing, Viewer, read_roster, token_list,
};
use arena_store::{By, ContestRunKind, Entry, Store};
use arena_terminal::{Format, StoreAt};
use arena_tournament::unix_ms;
use clap::{Args, Subcommand};
use referee_bots::{read_input_text, read_stream_text};
use referee_core::printable;
use referee_net::Token;

use self::{challenge::Challenge, entry::OfEntry, submit::Submit};
use super::{STREAM, STREAM_NAME, archives::who};
use crate::{
    End,
    report::{self, plural},
    usage,
};

/// The most bytes of a list of people.
const LARGEST_LIST: u64 = 4 * 1024 * 1024;

/// Contests: people hand in sources, which are built, examined and ranked.
#[derive(Subcommand)]
#[command(after_help = "Examples:
  arena contest create spring.toml
  arena contest people add spring class.csv --tokens tokens.csv
  arena serve --contest --page 0.0.0.0:8080
  arena contest status spring
  arena contest grades spring > grades.csv

docs/contest.md has it all.")]
pub(crate) enum Contest {
    /// Make a contest as a file says it
    Create(Create),
    /// Change what its file says; what was handed in stays
    Change(Change),
    /// List the contests of the store
    List(List),
    /// The phase of a contest, and what came of each entry
    Status(Named),
    /// The people of a contest
    #[command(subcommand)]
    People(People),
    /// Hand in: to an arena elsewhere with your token, or for a person to the store of this machine
    Submit(Submit),
    /// One entry, here or of an arena elsewhere: its build, its games, its points
    Entry(OfEntry),
    /// Meet another contestant in the next round of the ladder
    Challenge(Challenge),
    /// Write what was handed in to a folder, as for a search for copies
    Sources(Sources),
    /// The scoreboard, with names and everything as it is now
    Board(BoardArgs),
    /// Print the grades as CSV, with external ids
    Grades(Named),
    /// Let one contestant hand in until another time than the contest's
    Extend(Extend),
    /// Take a contestant out, with the reason
    Disqualify(Disqualify),
    /// Judge entries anew, show the difference, and then apply it or not
    Rejudge(Rejudge),
    /// Show everything to everybody, for good: scores, names of entries, the root of the final
    Publish(Named),
    /// Who has done what
    Log(Named),
}

#[derive(Subcommand)]
pub(crate) enum People {
    /// Add those of a CSV file with the columns name, pseudonym, id, team, group, role
    Add(AddPeople),
    /// List them
    List(Named),
    /// Give a person a new token, or none
    Token(NewToken),
    /// Forget a person: name, id, group and sources; results stay under a number
    Forget(OfPerson),
}

#[derive(Args)]
pub(crate) struct Create {
    /// The contest, as TOML; - for standard input.
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Change {
    /// The contest's name.
    contest: String,
    /// The changed file; - for standard input.
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Named {
    /// The contest's name.
    contest: String,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct AddPeople {
    /// The contest's name.
    contest: String,
    /// The list; - for standard input.
    #[arg(value_name = "LIST|-")]
    list: PathBuf,
    /// The new file that the tokens are written to, as CSV; - for standard output. They are kept
    /// nowhere else.
    #[arg(long, value_name = "FILE|-")]
    tokens: PathBuf,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct NewToken {
    /// The contest's name.
    contest: String,
    /// The person's number.
    person: u64,
    /// The new file that the token is written to.
    #[arg(long, value_name = "FILE", required_unless_present = "revoke")]
    token_file: Option<PathBuf>,
    /// Take the old token away, and give none.
    #[arg(long, conflicts_with = "token_file")]
    revoke: bool,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct OfPerson {
    /// The contest's name.
    contest: String,
    /// The person's number.
    person: u64,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Rejudge {
    /// The contest's name.
    contest: String,
    /// The entries' numbers. Without any it shows how far those are that are judged anew, and what
    /// would change.
    entries: Vec<u64>,
    /// Judge all entries anew.
    #[arg(long, conflicts_with = "entries")]
    all: bool,
    /// What would change, changes.
    #[arg(long, conflicts_with_all = ["entries", "all", "drop"])]
    apply: bool,
    /// Nothing changes.
    #[arg(long, conflicts_with_all = ["entries", "all"])]
    drop: bool,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Sources {
    /// The contest's name.
    contest: String,
    /// Only these entries.
    entries: Vec<u64>,
    /// The new folder: in it a folder for each contestant, with the ids of its people in the name.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct BoardArgs {
    /// The contest's name.
    contest: String,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct Extend {
    /// The contest's name.
    contest: String,
    /// The contestant's number.
    contestant: u64,
    /// A day and a time in the contest's zone, as in 2027-03-22T12:00. Without it the extension is
    /// taken back.
    until: Option<String>,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Disqualify {
    /// The contest's name.
    contest: String,
    /// The contestant's number.
    contestant: u64,
    /// The reason, which the contestant sees.
    #[arg(long, required_unless_present = "undo")]
    reason: Option<String>,
    /// Let the contestant in again.
    #[arg(long, conflicts_with = "reason")]
    undo: bool,
    #[command(flatten)]
    store: StoreAt,
}

/// A store, and a contest of it.
struct Opened {
    store: Store,
    standing: Standing,
    who: String,
    now: i64,
}

impl Opened {
    async fn new(at: &StoreAt, contest: &str) -> anyhow::Result<Self> {
        let store = at.open_existing().await?;
        let now = unix_ms(SystemTime::now());
        let standing = told(Standing::read(&store, contest, now).await)?;
        Ok(Self {
            store,
            standing,
            who: who(),
            now,
        })
    }

    fn by(&self) -> By<'_> {
        By {
            who: &self.who,
            at_unix_ms: self.now,
        }
    }

    fn entry(&self, number: u64) -> anyhow::Result<&Entry> {
        let found = self
            .standing
            .entries
            .iter()
            .find(|one| one.number == number);
        match found {
            Some(entry) => Ok(entry),
            None => usage(format!(
                "there is no entry {number}; `arena contest status {}` shows them",
                self.standing.contest.name
            )),
        }
    }

    async fn close(self, line: &str) -> anyhow::Result<End> {
        report::line(line)?;
        self.store.close().await;
        Ok(End::Done)
    }
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == STREAM
}

/// A contest's name and rules, of its file.
fn read_file(file: &Path) -> anyhow::Result<(String, ContestRules)> {
    told(match is_stream(file) {
        true => ContestRules::read_stream(STREAM_NAME, io::stdin()),
        false => ContestRules::read(file),
    })
}

/// What the caller can mend is bad usage.
fn told<T>(outcome: Result<T, impl Into<ContestError>>) -> anyhow::Result<T> {
    match outcome.map_err(Into::into) {
        Ok(done) => Ok(done),
        Err(error) if error.is_usage() => usage(error.to_string()),
        Err(error) => Err(error.into()),
    }
}

impl Contest {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Create(create) => create.run().await,
            Self::Change(change) => change.run().await,
            Self::List(list) => list.run().await,
            Self::Status(named) => named.status().await,
            Self::People(People::Add(add)) => add.run().await,
            Self::People(People::List(named)) => named.people().await,
            Self::People(People::Token(token)) => token.run().await,
            Self::People(People::Forget(person)) => person.forget().await,
            Self::Submit(submit) => submit.run().await,
            Self::Entry(entry) => entry.show().await,
            Self::Challenge(challenge) => challenge.run().await,
            Self::Sources(sources) => sources.run().await,
            Self::Board(board) => board.run().await,
            Self::Grades(named) => named.grades().await,
            Self::Extend(extend) => extend.run().await,
            Self::Disqualify(disqualify) => disqualify.run().await,
            Self::Rejudge(rejudge) => rejudge.run().await,
            Self::Publish(named) => named.publish().await,
            Self::Log(named) => named.log().await,
        }
    }
}

impl Create {
    async fn run(self) -> anyhow::Result<End> {
        let (name, rules) = read_file(&self.file)?;
        let store = self.store.open().await?;
        let who = who();
        let by = By {
            who: &who,
            at_unix_ms: unix_ms(SystemTime::now()),
        };
        let contest = told(Standing::create(&store, &name, &rules, by).await)?;
        report::line(&format!(
            "contest {name}: opens {}, closes {}",
            rules.shown(rules.opens_unix_ms),
            rules.shown(rules.closes_unix_ms),
        ))?;
        if rules.r#final.is_some() {
            let hash = contest.final_root.commitment();
            report::line(&format!("the root of the final has the hash {hash}"))?;
        }
        if rules.closes_unix_ms <= by.at_unix_ms {
            report::warning("it has closed already: all that is handed in is late");
        }
        report::note(&format!(
            "next: `arena contest people add {name} LIST.csv --tokens tokens.csv`, then `arena serve \
             --contest --page 127.0.0.1:8080`"
        ));
        store.close().await;
        Ok(End::Done)
    }
}

impl Change {
    async fn run(self) -> anyhow::Result<End> {
        let (_, rules) = read_file(&self.file)?;
        let opened = Opened::new(&self.store, &self.contest).await?;
        let was = &opened.standing.rules;
        if was.game != rules.game || was.exam != rules.exam {
            return usage(
                "game and exam stay as they are, since entries were examined so: make another \
                 contest",
            );
        }
        if *was == rules {
            return opened.close("it says what it said before").await;
        }
        let definition = serde_json::to_value(&rules)?;
        let what = format!(
            "changed its file: opens {}, closes {}",
            rules.shown(rules.opens_unix_ms),
            rules.shown(rules.closes_unix_ms)
        );
        let id = opened.standing.contest.id;
        let changed = opened
            .store
            .change_contest(id, &definition, &what, opened.by());
        told(changed.await)?;
        opened.close(&what).await
    }
}

impl List {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let contests = store.contests().await?;
        let now = unix_ms(SystemTime::now());
        let mut rows = Vec::new();
        for contest in &contests {
            let rules = told(ContestRules::of(contest))?;
            let phase = rules.phase(now, contest.published_unix_ms.is_some());
            rows.push([
                contest.name.clone(),
                rules.game.clone(),
                phase.word().to_owned(),
                rules.shown(rules.opens_unix_ms),
                rules.shown(rules.closes_unix_ms),
            ]);
        }
        match rows.is_empty() {
            true => report::text("there is none; `arena contest create FILE.toml` makes one\n")?,
            false => report::plain_table(&["contest", "game", "phase", "opens", "closes"], rows)?,
        }
        store.close().await;
        Ok(End::Done)
    }
}

impl Named {
    async fn status(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let standing = &opened.standing;
        let rules = &standing.rules;
        report::heading(&format!("{}: {}", rules.title, standing.phase.word()))?;
        let mut times = vec![("opens", rules.opens_unix_ms)];
        times.extend(rules.freezes_unix_ms.map(|at| ("freezes", at)));
        times.push(("closes", rules.closes_unix_ms));
        let forgets = rules.forgets_unix_ms(standing.contest.published_unix_ms);
        times.extend(forgets.map(|at| ("forgets its people", at)));
        for (what, at) in times {
            report::line(&format!("{what} {}", rules.shown(at)))?;
        }
        report::line(&format!(
            "{}, {}, of which {} not judged yet",
            plural(standing.contestants.len() as u64, "contestant"),
            count(standing.entries.len() as u64, "entry", "entries"),
            standing.open_count()
        ))?;
        if rules.r#final.is_some() {
            let hash = standing.contest.final_root.commitment();
            report::line(&format!("the root of the final has the hash {hash}"))?;
        }
        if let Some(last) = standing.meetings.last() {
            report::line(&format!(
                "{}: {}; `arena tournament status {}` has its table",
                match last.kind {
                    ContestRunKind::Final => "final".to_owned(),
                    _ => format!("round {} of the league", last.part),
                },
                last.state.word(),
                last.name
            ))?;
        }
        let rows = standing.entries.iter().map(|entry| {
            let whose = standing.contestants.iter();
            let whose = whose.filter(|one| one.number == entry.contestant);
            [
                entry.number.to_string(),
                whose
                    .map(|one| printable(&one.pseudonym))
                    .next()
                    .unwrap_or_default(),
                match entry.part {
                    0 => String::new(),
                    part => part.to_string(),
                },
                match (entry.place.official, entry.place.counted) {
                    (false, _) => "late",
                    (true, true) => "yes",
                    (true, false) => "no",
                }
                .to_owned(),
                entry.state.word().to_owned(),
                result(standing, entry),
            ]
        });
        let header = ["entry", "contestant", "group", "counts", "state", "result"];
        report::plain_table(&header, rows)?;
        opened.store.close().await;
        Ok(End::Done)
    }

    async fn people(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let standing = &opened.standing;
        let rows = standing.people.iter().map(|person| {
            let text = |text: &Option<String>| text.as_deref().map(printable).unwrap_or_default();
            let contestant = person.contestant.and_then(|number| {
                let mut all = standing.contestants.iter();
                all.find(|one| one.number == number)
            });
            [
                person.number.to_string(),
                text(&person.name),
                person.role.word().to_owned(),
                text(&person.external_id),
                text(&person.section),
                contestant.map_or_else(String::new, |one| one.number.to_string()),
                contestant.map_or_else(String::new, |one| printable(&one.pseudonym)),
                match person.token_hash {
                    Some(_) => "yes",
                    None => "no",
                }
                .to_owned(),
            ]
        });
        let header = [
            "person",
            "name",
            "role",
            "id",
            "group",
            "contestant",
            "pseudonym",
            "token",
        ];
        report::plain_table(&header, rows)?;
        opened.store.close().await;
        Ok(End::Done)
    }

    async fn grades(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let standing = &opened.standing;
        report::text(&standing.board(Viewer::Organiser).grades(&standing.people))?;
        opened.store.close().await;
        Ok(End::Done)
    }

    async fn publish(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let standing = &opened.standing;
        told(standing.check_over())?;
        let id = standing.contest.id;
        told(opened.store.publish_contest(id, opened.by()).await)?;
        let mut line = format!("{} is published", self.contest);
        if standing.rules.r#final.is_some() {
            let root = standing.contest.final_root.reveal();
            line += &format!("; the root of the final is {root}");
        }
        opened.close(&line).await
    }

    async fn log(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let standing = &opened.standing;
        let log = opened.store.contest_log(standing.contest.id).await?;
        let rows = log.iter().map(|line| {
            [
                line.number.to_string(),
                standing.rules.shown(line.at_unix_ms),
                printable(&line.who),
                printable(&line.what),
            ]
        });
        report::plain_table(&["number", "at", "who", "what"], rows)?;
        opened.store.close().await;
        Ok(End::Done)
    }
}

impl AddPeople {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let (what, text) = match is_stream(&self.list) {
            true => (
                STREAM_NAME.into(),
                read_stream_text(io::stdin(), LARGEST_LIST),
            ),
            false => (
                self.list.to_string_lossy(),
                read_input_text(&self.list, LARGEST_LIST),
            ),
        };
        let text = text.or_else(|error| usage(format!("{what}: {error}")))?;
        let invitations = read_roster(&text);
        let invitations = told(invitations.map_err(|error| match error {
            ContestError::Invalid(why) => ContestError::Invalid(format!("{what}: {why}")),
            error => error,
        }))?;
        // First the file: tokens that nobody has would be of no use.
        let mut tokens = match is_stream(&self.tokens) {
            true => None,
            false => Some(new_file(&self.tokens)?),
        };
        let people: Vec<_> = invitations.iter().map(|one| one.person.clone()).collect();
        let id = opened.standing.contest.id;
        let numbers = match opened.store.add_people(id, &people, opened.by()).await {
            Ok(numbers) => numbers,
            Err(error) => {
                if tokens.is_some() {
                    let _ = std::fs::remove_file(&self.tokens);
                }
                return told(Err(error));
            }
        };
        let list = token_list(&numbers, &invitations);
        let added = count(numbers.len() as u64, "person", "people");
        let Some(tokens) = &mut tokens else {
            report::note(&format!(
                "{added} added; these are their tokens, which are kept nowhere else"
            ));
            return opened.close(list.trim_end()).await;
        };
        tokens.write_all(list.as_bytes())?;
        tokens.sync_all()?;
        let line = format!(
            "{added} added; their tokens are in {}, and kept nowhere else: give each person theirs",
            self.tokens.display()
        );
        opened.close(&line).await
    }
}

/// A file that is not there yet, which its owner alone may read.
fn new_file(path: &Path) -> anyhow::Result<File> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.or_else(|error| usage(format!("could not write {}: {error}", path.display())))
}

impl NewToken {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let person = told(opened.standing.person(self.person))?.number;
        let id = opened.standing.contest.id;
        let Some(file) = &self.token_file else {
            told(opened.store.set_token(id, person, None, opened.by()).await)?;
            return opened
                .close(&format!("person {person} can't log in any more"))
                .await;
        };
        let token = Token::generate()?;
        if let Err(error) = token.write_new(file) {
            return usage(error.to_string());
        }
        let hash = token.hash().to_string();
        told(
            opened
                .store
                .set_token(id, person, Some(&hash), opened.by())
                .await,
        )?;
        let line = format!(
            "person {person} logs in with the token in {}; the old one is not valid any more",
            file.display()
        );
        opened.close(&line).await
    }
}

impl OfPerson {
    async fn forget(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let id = opened.standing.contest.id;
        told(
            opened
                .store
                .forget_person(id, self.person, opened.by())
                .await,
        )?;
        opened
            .close(&format!("person {} is forgotten", self.person))
            .await
    }
}

impl Rejudge {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let id = opened.standing.contest.id;
        if self.apply || self.drop {
            let open = opened
                .standing
                .trials
                .iter()
                .filter(|one| !one.state.is_final());
            let open = open.count();
            if self.apply && open > 0 {
                return usage(format!(
                    "{} not judged yet: apply it when all are, so that you see all that changes",
                    count(open as u64, "entry is", "entries are")
                ));
            }
            let settled = opened
                .store
                .settle_trials(id, self.apply, opened.by())
                .await?;
            let settled = count(settled, "entry", "entries");
            let line = match self.apply {
                true => format!("{settled} as judged anew"),
                false => format!("{settled} as before"),
            };
            return opened.close(&line).await;
        }
        let known = &opened.standing.entries;
        let chosen: Vec<u64> = match self.all {
            true => known.iter().map(|entry| entry.number).collect(),
            false => self.entries.clone(),
        };
        for &number in &chosen {
            opened.entry(number)?;
        }
        if !chosen.is_empty() {
            let (now, by) = (opened.now, opened.by());
            let begun = opened.store.begin_trials(id, &chosen, now, by).await?;
            let line = format!(
                "{} anew; `arena contest rejudge {}` shows what would change, and nothing does until \
                 --apply",
                count(begun, "entry is judged", "entries are judged"),
                self.contest
            );
            return opened.close(&line).await;
        }
        let standing = &opened.standing;
        let rows = standing.trials.iter().filter_map(|trial| {
            let entry = known
                .iter()
                .find(|one| Some(one.number) == trial.trial_of)?;
            let (was, is) = (result(standing, entry), result(standing, trial));
            Some([
                entry.number.to_string(),
                was.clone(),
                match trial.state.is_final() {
                    true if was == is => "the same".to_owned(),
                    true => is,
                    false => format!("{}, not judged yet", trial.state.word()),
                },
            ])
        });
        let rows: Vec<_> = rows.collect();
        match rows.is_empty() {
            true => report::text("no entry is judged anew\n")?,
            false => report::plain_table(&["entry", "now", "anew"], rows)?,
        }
        opened.store.close().await;
        Ok(End::Done)
    }
}

impl Sources {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        for &number in &self.entries {
            opened.entry(number)?;
        }
        if let Err(error) = std::fs::create_dir(&self.out) {
            return usage(format!("could not make {}: {error}", self.out.display()));
        }
        let standing = &opened.standing;
        let mut written = 0;
        for entry in &standing.entries {
            if !self.entries.is_empty() && !self.entries.contains(&entry.number) {
                continue;
            }
            let upload = opened
                .store
                .upload(standing.contest.id, entry.number)
                .await?;
            // The person was forgotten.
            let Some(bytes) = upload else { continue };
            let of_it = standing.people.iter();
            let of_it = of_it.filter(|one| one.contestant == Some(entry.contestant));
            let ids = of_it.filter_map(|one| one.external_id.as_deref());
            let mut folder = format!("{:04}", entry.contestant);
            for id in ids {
                let safe = id
                    .chars()
                    .map(|c| if c.is_alphanumeric() { c } else { '-' });
                folder.push('-');
                folder.extend(safe.take(40));
            }
            let folder = self.out.join(folder);
            std::fs::create_dir_all(&folder)?;
            let file = folder.join(format!("{:05}-{}", entry.number, entry.file));
            new_file(&file)?.write_all(&bytes)?;
            written += 1;
        }
        let line = format!(
            "{} in {}",
            count(written, "entry", "entries"),
            self.out.display()
        );
        opened.close(&line).await
    }
}

impl BoardArgs {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let board = opened.standing.board(Viewer::Organiser);
        match self.format {
            Format::Json => report::text(&format!("{}\n", serde_json::to_string(&board)?))?,
            Format::Text => show_board(&board)?,
        }
        opened.store.close().await;
        Ok(End::Done)
    }
}

fn show_board(board: &Board) -> anyhow::Result<()> {
    let number = |number: &Option<i64>| number.map_or_else(String::new, |n| n.to_string());
    let mut header = vec!["rank".to_owned(), "contestant".to_owned()];
    header.extend(board.parts.iter().map(|part| match part {
        0 => "points".to_owned(),
        part => format!("group {part}"),
    }));
    let has_shares = board.rows.iter().any(|row| row.percent.is_some());
    let has_ratings = board.rows.iter().any(|row| row.rating.is_some());
    if has_shares {
        header.push(match board.round {
            Some(round) if round > 0 => format!("round {round} %"),
            _ => "final %".to_owned(),
        });
    }
    if has_ratings {
        header.push("rating".to_owned());
    }
    header.extend(["total".to_owned(), "entries".to_owned()]);
    let rows = board.rows.iter().map(|row| {
        let mut cells = vec![
            row.rank
                .map_or_else(|| "out".to_owned(), |rank| rank.to_string()),
            printable(&row.name),
        ];
        cells.extend(row.points.iter().map(number));
        if has_shares {
            let percent = row.percent.map(|percent| format!("{percent:.1}"));
            cells.push(percent.unwrap_or_default());
        }
        if has_ratings {
            let rating = row.rating;
            let rating = rating.map(|one| format!("{:.0} ± {:.0}", one.elo, one.error));
            cells.push(rating.unwrap_or_default());
        }
        cells.extend([row.total.to_string(), row.handed_in.to_string()]);
        cells
    });
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    report::table(&header, rows.collect(), |column| column > 1)
}

impl Extend {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let rules = &opened.standing.rules;
        let until = match &self.until {
            Some(text) => Some(told(rules.moment("UNTIL", text))?),
            None => None,
        };
        let id = opened.standing.contest.id;
        let words = until.map_or_else(String::new, |at| rules.shown(at));
        let store = &opened.store;
        let set = store.set_until(id, self.contestant, until, &words, opened.by());
        told(set.await)?;
        let at = until.unwrap_or(rules.closes_unix_ms);
        let line = format!(
            "contestant {} may hand in until {}",
            self.contestant,
            rules.shown(at)
        );
        opened.close(&line).await
    }
}

impl Disqualify {
    async fn run(self) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let id = opened.standing.contest.id;
        let reason = self.reason.as_deref();
        let set = opened
            .store
            .disqualify(id, self.contestant, reason, opened.by());
        told(set.await)?;
        let line = match reason {
            Some(_) => format!("contestant {} is out", self.contestant),
            None => format!("contestant {} is in again", self.contestant),
        };
        opened.close(&line).await
    }
}

/// What came of an entry, in few words.
fn result(standing: &Standing, entry: &Entry) -> String {
    let details = EntryDetails::default();
    entry::result(&standing.told(entry, details, Viewer::Organiser))
}

/// A number of things.
fn count(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}
