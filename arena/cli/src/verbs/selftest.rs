//! `arena selftest`: a bot against itself must come out even, deal by deal, or
//! what is measured here means nothing; and whether this machine is fit to judge.

use std::{
    collections::BTreeMap,
    os::unix::{
        net::UnixListener,
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use arena_ladder::Seatings;
use clap::Args;
use nix::{sys::signal::Signal, unistd::Pid};
use referee::{Memory, Played, Pool, Supervisor};
use referee_core::{GameKind, Limits, Record, Root, Verdict};
use referee_games::{GAMES, replay};
use serde_json::json;

use super::{Format, r#match::find_game};
use crate::{
    End,
    entry::{Entry, Start},
    report,
    run::{self, Pairing, RunEnd, Table},
    setups::Setups,
    stop::Stop,
    tally::plural,
    usage,
};

/// A bot against itself, every deal from every seating: chance goes by deal and
/// seat, so each of its entries must come out the same in every deal. What it
/// remembers from game to game, and a clock that it goes by, make it uneven.
#[derive(Args)]
pub(crate) struct Selftest {
    /// The game, for example connect-four [default: every game].
    game: Option<String>,
    /// Who plays against itself; it must answer the same when it is asked the
    /// same.
    #[arg(long, value_name = "SPEC", default_value = "house:random")]
    bot: String,
    /// How many deals of each game.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    deals: u64,
    /// Other deals: a number or a word.
    #[arg(long, default_value = "selftest")]
    seed: String,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What one check found.
struct Check {
    what: String,
    /// Why not, where it did not hold.
    found: Result<String, String>,
}

/// How an entry came out of the games of one deal: places and scores, in order.
type Came = Vec<(u8, i32)>;

/// What came of one game's deals.
struct Deals {
    games: u32,
    /// By deal: how each entry came out.
    came: BTreeMap<u64, Vec<Came>>,
    /// The first record that does not play again, or that tells of a foul.
    wrong: Option<String>,
}

/// How long our own wake-ups are watched.
const WATCHED: Duration = Duration::from_secs(1);
/// From here on a delay of ours is worth a word.
const LONG_DELAY: Duration = Duration::from_millis(20);
/// The supervisor has this long to kill.
const KILLED_WITHIN: Duration = Duration::from_secs(5);

impl Selftest {
    /// Checks everything, each in a line: exit code 1 where one does not hold.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let bot = Entry::read(&self.bot)?;
        bot.must_be_there()?;
        if !bot.is_ours_to_start() {
            return usage(format!(
                "--bot {}: expected a bot that the arena starts, as often as the game has seats",
                self.bot
            ));
        }
        let kinds: Vec<&'static dyn GameKind> = match &self.game {
            Some(name) => vec![find_game(name)?],
            None => GAMES.to_vec(),
        };
        let plays = |kind: &&dyn GameKind| bot.must_play(kind.info()).is_ok();
        if let [kind] = kinds[..] {
            bot.must_play(kind.info())?;
        }
        let root: Root = self
            .seed
            .parse()
            .or_else(|error| usage(format!("--seed: {error}")))?;
        let stop = Stop::on_signals(None)?;
        let mut end = End::Done;
        for check in [cores(), sockets(), supervisor(), heartbeat().await?] {
            end = self.tell(&check, end)?;
        }
        for kind in kinds.into_iter().filter(plays) {
            let Some(deals) = self.play(kind, &bot.spec, root.clone(), &stop).await? else {
                return Ok(End::Interrupted);
            };
            let check = Check {
                what: kind.info().name.replace('_', "-"),
                found: deals.judged(),
            };
            end = self.tell(&check, end)?;
        }
        Ok(end)
    }

    /// Prints what was found and says how the program would end now.
    fn tell(&self, check: &Check, end: End) -> anyhow::Result<End> {
        let Check { what, found } = check;
        let words = match found {
            Ok(words) => words.clone(),
            Err(why) => format!("NO: {why}"),
        };
        match self.format {
            Format::Text => report::text(&format!(
                "{}\n",
                report::wrapped(&format!("{what}: {words}"))
            ))?,
            Format::Json => report::event(&json!({
                "type": "check", "what": what, "holds": found.is_ok(),
                "found": found.as_ref().unwrap_or_else(|why| why),
            }))?,
        }
        Ok(if found.is_ok() { end } else { End::No })
    }

    /// Plays every deal from every seating; nothing where it was stopped.
    async fn play(
        &self,
        kind: &'static dyn GameKind,
        spec: &str,
        root: Root,
        stop: &Stop,
    ) -> anyhow::Result<Option<Deals>> {
        let seats = usize::from(kind.info().seats);
        let entries = (1..=seats)
            .map(|number| Entry::read(&format!("itself-{number}={spec}")))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let bots: Vec<usize> = (0..seats).collect();
        let pairings = Pairing::rounds(&bots, Seatings::Rotations, 0, self.deals);
        let setups = Setups::new(kind, vec![kind.setup(&serde_json::Value::Null)?])?;
        let limits = Limits::default();
        let memory = Memory {
            limit: None,
            gauge: None,
        };
        let table = Table {
            kind,
            setups,
            limits,
            root,
            entries,
            start: Start::new(limits.start, memory, None)?,
        };
        let mut deals = Deals {
            games: 0,
            came: BTreeMap::new(),
            wrong: None,
        };
        let end = run::run(
            &table,
            &pairings,
            run::standard_concurrency(),
            stop,
            || {},
            async |_, pairing, played| {
                deals.add(seats, pairing, &played);
                Ok(())
            },
        )
        .await?;
        Ok((end == RunEnd::Whole).then_some(deals))
    }
}

impl Deals {
    fn add(&mut self, seats: usize, pairing: &Pairing, played: &Played) {
        self.games += 1;
        let came = self
            .came
            .entry(pairing.group)
            .or_insert_with(|| vec![Vec::new(); seats]);
        if let Some(outcome) = played.record.result.verdict.outcome() {
            let places = outcome.places.as_slice().iter().copied();
            let scores = outcome.scores.as_slice().iter().copied();
            for (&entry, came_out) in pairing.bots.iter().zip(places.zip(scores)) {
                came[entry].push(came_out);
                came[entry].sort_unstable();
            }
        }
        if self.wrong.is_none()
            && let Err(why) = proved(&played.record)
        {
            self.wrong = Some(format!("{}: {why}", pairing.id()));
        }
    }

    /// Whether every entry came out the same in every deal, and every record plays
    /// again.
    fn judged(&self) -> Result<String, String> {
        if let Some(why) = &self.wrong {
            return Err(why.clone());
        }
        for (deal, came) in &self.came {
            if came.iter().any(|other| *other != came[0]) {
                let each = (1..).zip(came).map(|(number, came)| {
                    let places: Vec<_> = came.iter().map(|(place, _)| place.to_string()).collect();
                    let score: i64 = came.iter().map(|(_, score)| i64::from(*score)).sum();
                    format!("itself-{number} {} ({score:+})", places.join("-"))
                });
                return Err(format!(
                    "uneven in deal {deal}, places and sum of scores: {}; a bot that goes by a \
                     clock, or remembers games, can't be even",
                    each.collect::<Vec<_>>().join(", ")
                ));
            }
        }
        Ok(format!(
            "{}, {}: even in every deal, every record plays again",
            plural(self.came.len() as u32, "deal"),
            plural(self.games, "game"),
        ))
    }
}

/// Whether a record reads back, plays again, and tells of a game without a foul.
fn proved(record: &Record) -> Result<(), String> {
    let broken = |why: String| format!("its record does not play again: {why}");
    let read = Record::parse(&record.to_json_lines()).map_err(|why| broken(why.to_string()))?;
    replay(&read, |_| {}).map_err(|why| broken(why.to_string()))?;
    match &read.result.verdict {
        Verdict::Finished { fouls, .. } => match fouls.first() {
            Some(foul) => Err(format!("seat {}: {}", foul.seat, foul.foul)),
            None => Ok(()),
        },
        Verdict::Void { reason } => Err(format!("void: {reason}")),
    }
}

fn cores() -> Check {
    let cores = run::standard_concurrency();
    Check {
        what: "cores".to_owned(),
        found: Ok(format!(
            "{cores}, so as many games at once where nobody says"
        )),
    }
}

/// Bots listen on sockets in folders of their own.
fn sockets() -> Check {
    let made = || -> std::io::Result<PathBuf> {
        let folder = referee::folder_for_a_socket()?;
        UnixListener::bind(folder.path().join("bot.sock"))?;
        let place = folder.path().parent();
        Ok(place.unwrap_or(folder.path()).to_owned())
    };
    Check {
        what: "sockets".to_owned(),
        found: match made() {
            Ok(folder) => Ok(format!("can be made in {}", folder.display())),
            Err(error) => Err(format!(
                "none can be made in {}: {error}; set TMPDIR to a folder that can be written",
                std::env::temp_dir().display()
            )),
        },
    }
}

/// A supervisor that is told of a bot and then left alone must kill it.
fn supervisor() -> Check {
    Check {
        what: "supervisor".to_owned(),
        found: match outlived() {
            Ok(false) => Ok("kills what outlives us and removes its folder".to_owned()),
            Ok(true) => Err("a bot outlived it".to_owned()),
            Err(error) => Err(format!("{error:#}")),
        },
    }
}

/// Whether anything of a bot is left after its supervisor's pipe has closed.
fn outlived() -> anyhow::Result<bool> {
    let program = std::env::current_exe()?;
    let folder = referee::folder_for_a_socket()?.keep();
    let mut command = Command::new(&program);
    command.arg("supervise");
    let supervisor = Supervisor::start(command).context("could not start it")?;
    let bot = Command::new(&program)
        .args(["bot", "random"])
        .env(
            "BOT_LISTEN",
            format!("unix:{}", folder.join("bot.sock").display()),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .context("could not start a bot")?;
    supervisor.watch(Pid::from_raw(bot.id() as i32), &folder);
    // Closes the pipe, and waits until the supervisor has ended.
    drop(supervisor);
    Ok(!was_killed(bot)? || folder.exists())
}

/// Waits a moment for a process to be killed, and does it where nobody else has.
fn was_killed(mut process: Child) -> std::io::Result<bool> {
    let began = Instant::now();
    while began.elapsed() < KILLED_WITHIN {
        if let Some(status) = process.try_wait()? {
            return Ok(status.signal() == Some(Signal::SIGKILL as i32));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    process.kill()?;
    process.wait()?;
    Ok(false)
}

/// How late the threads that judge time wake up on this machine.
async fn heartbeat() -> anyhow::Result<Check> {
    let pool = Pool::new(1)?;
    tokio::time::sleep(WATCHED).await;
    let worst = pool.worst_delay();
    let shown = report::time(worst.as_micros() as u64);
    let within = humantime::format_duration(WATCHED);
    let found = if worst.is_zero() {
        format!("woke up on time for {within}")
    } else if worst < LONG_DELAY {
        format!("woke up {shown} late at worst within {within}, which is fine")
    } else {
        format!(
            "woke up {shown} late within {within}: this machine has much else to do, and games \
             may have to be played again for it"
        )
    };
    Ok(Check {
        what: "clock".to_owned(),
        found: Ok(found),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deals(came: Vec<Came>) -> Deals {
        Deals {
            games: 4,
            came: [(0, vec![vec![(1, 1), (2, -1)]; 2]), (1, came)].into(),
            wrong: None,
        }
    }

    #[test]
    fn a_deal_is_even_if_all_came_out_the_same() {
        let even = deals(vec![vec![(1, 8), (2, -3)]; 2]);
        let words = even.judged().unwrap();
        assert_eq!(
            words,
            "2 deals, 4 games: even in every deal, every record plays again"
        );
    }

    #[test]
    fn a_deal_is_uneven_by_its_places_or_by_its_scores() {
        for (other, says) in [
            (
                vec![(2, -1), (2, -1)],
                "itself-1 1-1 (+2), itself-2 2-2 (-2)",
            ),
            (vec![(1, 2), (1, 1)], "itself-1 1-1 (+2), itself-2 1-1 (+3)"),
            (vec![], "itself-2  (+0)"),
        ] {
            let why = deals(vec![vec![(1, 1), (1, 1)], other])
                .judged()
                .unwrap_err();
            assert!(why.starts_with("uneven in deal 1, "), "{why}");
            assert!(why.contains(says), "{why}");
        }
    }
}
