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
use arena_events::{
    Event,
    check::{SelftestCheck, SelftestEvent, UnevenDeal},
};
use arena_ladder::{ScheduleShape, Seatings};
use arena_store::GameRow;
use arena_terminal::{Format, Reporter};
use arena_tournament::{MemoryResults, RunEnd, events, find_game};
use clap::Args;
use nix::{sys::signal::Signal, unistd::Pid};
use referee::{Pool, Supervisor};
use referee_bots::{Entry, LaunchOptions};
use referee_cli::{Hidden, sandbox::SandboxArgs};
use referee_core::{GameKind, Record, Root, Verdict, pack};
use referee_games::{GAMES, game_name, verify};
use referee_sandbox::Walls;
use referee_worker::Stop;

use crate::{
    End,
    bots::schemes,
    play::{Settings, play_into, run_options},
    report::{self, plural},
    stop, usage,
};

/// Plays a bot against itself, every deal from every seating. Chance depends only on
/// deal and seat, so each of its entries must get the same results in every deal. A
/// bot that remembers earlier games, or that looks at a clock, gets uneven ones.
#[derive(Args)]
pub(crate) struct Selftest {
    /// The game, for example connect-four [default: every game].
    game: Option<String>,
    /// The bot; it must give the same answer to the same question.
    #[arg(long, value_name = "SPEC", default_value = "house:random")]
    bot: String,
    /// How many deals of each game.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    deals: u64,
    /// Other deals: a number or a word.
    #[arg(long, default_value = "selftest")]
    seed: String,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Finding of one look at the machine or at a game.
struct Observed {
    what: String,
    /// The same for programs.
    check: SelftestCheck,
    /// Reason why not, where it did not hold.
    found: Result<String, String>,
}

/// The places and scores of an entry in the games of one deal, in order.
type Outcomes = Vec<(u8, i32)>;

/// Result of one game's deals.
struct Deals {
    games: u32,
    /// By deal: the outcomes of each entry.
    outcomes: BTreeMap<u64, Vec<Outcomes>>,
    /// The first record that does not play again, or that tells of a foul.
    wrong: Option<WrongRecord>,
}

/// A record that is not one of a game without fouls.
struct WrongRecord {
    /// The game, where that can be read.
    game_id: Option<String>,
    why: String,
}

/// Time that our own wake-ups are watched.
const WATCHED: Duration = Duration::from_secs(1);
/// From here on a delay of ours is worth a word.
const LONG_DELAY: Duration = Duration::from_millis(20);
/// The supervisor has this long to kill.
const KILLED_WITHIN: Duration = Duration::from_secs(5);

impl Selftest {
    /// Checks everything, each in a line: exit code 1 where one does not hold.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let bot = Entry::read(&self.bot, &schemes()?)?;
        let here = std::env::current_dir()?;
        bot.check_files(&here)?;
        if !bot.is_started_by_us() {
            return usage(format!(
                "--bot {}: expected a bot that the arena starts, as often as the game has seats",
                self.bot
            ));
        }
        let kinds: Vec<&'static dyn GameKind> = match &self.game {
            Some(name) => vec![find_game(name)?],
            None => GAMES.to_vec(),
        };
        let plays = |kind: &&dyn GameKind| bot.check_game(kind.info(), &here).is_ok();
        if let [kind] = kinds[..] {
            bot.check_game(kind.info(), &here)?;
        }
        let root: Root = self
            .seed
            .parse()
            .or_else(|error| usage(format!("--seed: {error}")))?;
        let stop = stop::on_signals(None)?;
        let mut end = End::Done;
        let walls = self.sandbox.probe()?;
        let machine = [
            cores(),
            sockets(),
            supervisor(),
            walls_of(walls.walls()),
            heartbeat().await?,
        ];
        for observed in machine {
            end = self.tell(observed, end)?;
        }
        for kind in kinds.into_iter().filter(plays) {
            let Some(deals) = self.play(kind, &bot, root.clone(), &stop).await? else {
                return Ok(End::Interrupted);
            };
            let game = game_name(kind.info().name);
            let observed = Observed {
                what: game.clone(),
                check: deals.check(game),
                found: deals.judged(),
            };
            end = self.tell(observed, end)?;
        }
        Ok(end)
    }

    /// Prints what was found and says how the program would end now.
    fn tell(&self, observed: Observed, end: End) -> anyhow::Result<End> {
        let Observed { what, check, found } = observed;
        let holds = found.is_ok();
        match self.format {
            Format::Text => {
                let words = found.unwrap_or_else(|why| format!("NO: {why}"));
                for line in format!("{what}: {words}").lines() {
                    report::line(line)?;
                }
            }
            Format::Json => report::event(Event::Selftest(SelftestEvent {
                check,
                holds,
                error: found.err(),
            }))?,
        }
        Ok(if holds { end } else { End::No })
    }

    /// Plays every deal from every seating; nothing where it was stopped.
    async fn play(
        &self,
        kind: &'static dyn GameKind,
        bot: &Entry,
        root: Root,
        stop: &Stop,
    ) -> anyhow::Result<Option<Deals>> {
        let seats = usize::from(kind.info().seats);
        let bots = (1..=seats).map(|number| bot.renamed(format!("itself-{number}")));
        let settings = Settings {
            root,
            ..Settings::unrecorded(kind)?
        };
        let shape = ScheduleShape::RoundRobin {};
        let seatings = Seatings::Rotations;
        let plan = settings.plan(bots.collect(), shape, self.deals, seatings, None)?;
        let reporter = Reporter::new(&game_name(kind.info().name), None, false, stop).silent();
        let results = MemoryResults::with_records();
        let launch = LaunchOptions {
            sandbox: self.sandbox.around([bot], [])?,
            ..LaunchOptions::new(Hidden::supervisor()?)
        };
        let options = run_options(launch, kind, None, false);
        let played = play_into(results, plan, options, stop, reporter).await?;
        if played.outcome.end == RunEnd::Stopped {
            return Ok(None);
        }
        let mut deals = Deals {
            games: 0,
            outcomes: BTreeMap::new(),
            wrong: None,
        };
        for game in played.results.games() {
            deals.add(seats, &game);
        }
        let proofs = played.results.take_records().into_iter();
        deals.wrong = proofs.map(|record| proved(&record)).find_map(Result::err);
        Ok(Some(deals))
    }
}

impl Deals {
    fn add(&mut self, seats: usize, game: &GameRow) {
        self.games += 1;
        let outcomes = self
            .outcomes
            .entry(game.group)
            .or_insert_with(|| vec![Vec::new(); seats]);
        let scores = game.scores.iter().copied();
        let seated = game.places.iter().copied().zip(scores);
        for (&entry, outcome) in game.order.iter().zip(seated) {
            outcomes[entry].push(outcome);
            outcomes[entry].sort_unstable();
        }
    }

    /// The finding, for programs.
    fn check(&self, game: String) -> SelftestCheck {
        SelftestCheck::Game {
            game,
            deals: self.outcomes.len() as u64,
            games: self.games.into(),
            uneven: self.uneven(),
            game_id: self.wrong.as_ref().and_then(|wrong| wrong.game_id.clone()),
        }
    }

    /// The first deal that did not come out even.
    fn uneven(&self) -> Option<UnevenDeal> {
        let mut deals = self.outcomes.iter();
        let (group, outcomes) =
            deals.find(|(_, outcomes)| outcomes.iter().any(|one| *one != outcomes[0]))?;
        let places = |one: &Outcomes| one.iter().map(|(place, _)| *place).collect();
        let score = |one: &Outcomes| one.iter().map(|(_, score)| i64::from(*score)).sum();
        Some(UnevenDeal {
            group: *group,
            places: outcomes.iter().map(places).collect(),
            scores: outcomes.iter().map(score).collect(),
        })
    }

    /// Checks that every entry came out the same in every deal, and every record plays again.
    fn judged(&self) -> Result<String, String> {
        if let Some(wrong) = &self.wrong {
            return Err(match &wrong.game_id {
                Some(game) => format!("{game}: {}", wrong.why),
                None => wrong.why.clone(),
            });
        }
        if let Some(uneven) = self.uneven() {
            let each = uneven.places.iter().zip(&uneven.scores);
            let each = (1..).zip(each).map(|(number, (places, score))| {
                let places: Vec<_> = places.iter().map(u8::to_string).collect();
                format!("itself-{number} {} ({score:+})", places.join("-"))
            });
            return Err(format!(
                "uneven in deal {}, places and sum of scores: {}; a bot that looks at a clock, or \
                 remembers games, can't be even",
                uneven.group,
                each.collect::<Vec<_>>().join(", ")
            ));
        }
        Ok(format!(
            "{}, {}: even in every deal, every record plays again",
            plural(self.outcomes.len() as u64, "deal"),
            plural(self.games, "game"),
        ))
    }
}

/// Checks that a record reads back, plays again, and tells of a game without a foul.
fn proved(packed: &[u8]) -> Result<(), WrongRecord> {
    let broken = |why: String| format!("a record does not play again: {why}");
    let unread = |why: String| WrongRecord {
        game_id: None,
        why: broken(why),
    };
    let text = pack::unpack(packed).map_err(|why| unread(why.to_string()))?;
    let read = Record::parse(&text).map_err(|why| unread(why.to_string()))?;
    let wrong = |why: String| WrongRecord {
        game_id: Some(read.header.game_id.clone()),
        why,
    };
    verify(&read).map_err(|why| wrong(broken(why.to_string())))?;
    match &read.result.verdict {
        Verdict::Finished { fouls, .. } => match fouls.first() {
            Some(foul) => Err(wrong(format!("seat {}: {}", foul.seat, foul.foul))),
            None => Ok(()),
        },
        Verdict::Void { reason } => Err(wrong(format!("void: {reason}"))),
    }
}

fn cores() -> Observed {
    let cores = referee::core_count();
    let cores = cores as u64;
    Observed {
        what: "cores".to_owned(),
        check: SelftestCheck::Cores { cores },
        found: Ok(format!(
            "{cores}; as many games are played at once by default"
        )),
    }
}

/// Bots listen on sockets in folders of their own.
fn sockets() -> Observed {
    let made = || -> std::io::Result<PathBuf> {
        let folder = referee::folder_for_a_socket()?;
        UnixListener::bind(folder.path().join("bot.sock"))?;
        let place = folder.path().parent();
        Ok(place.unwrap_or(folder.path()).to_owned())
    };
    let made = made();
    let folder = made
        .as_ref()
        .map_or_else(|_| std::env::temp_dir(), PathBuf::clone);
    let folder = folder.display().to_string();
    Observed {
        what: "sockets".to_owned(),
        found: match made {
            Ok(_) => Ok(format!("can be made in {folder}")),
            Err(error) => Err(format!(
                "none can be made in {folder}: {error}; set TMPDIR to a folder that can be written"
            )),
        },
        check: SelftestCheck::Sockets { folder },
    }
}

/// Which walls can be built around bots, and what to do for more.
fn walls_of(walls: &Walls) -> Observed {
    let mut words = walls.to_string();
    for missing in walls.missing() {
        words += &format!("\n  {}: {}", missing.wall, missing.consequence);
        if let Some(reason) = &missing.reason {
            words += &format!(" ({reason})");
        }
        words += &format!(". {}", missing.remedy);
    }
    Observed {
        what: "sandbox".to_owned(),
        check: SelftestCheck::Sandbox(crate::play::walls_event(walls)),
        found: Ok(words),
    }
}

/// A supervisor that is told of a bot and then left alone must kill it.
fn supervisor() -> Observed {
    Observed {
        what: "supervisor".to_owned(),
        check: SelftestCheck::Supervisor,
        found: match outlived() {
            Ok(false) => {
                Ok("kills processes that are left over and removes their folder".to_owned())
            }
            Ok(true) => Err("a bot outlived it".to_owned()),
            Err(error) => Err(format!("{error:#}")),
        },
    }
}

/// True if anything of a bot is left after its supervisor's pipe has closed.
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

/// Measures the delay with which the threads that judge time wake up on this machine.
async fn heartbeat() -> anyhow::Result<Observed> {
    let pool = Pool::new(1)?;
    tokio::time::sleep(WATCHED).await;
    let worst = pool.worst_delay();
    let shown = report::time(events::us(worst));
    let within = humantime::format_duration(WATCHED);
    let found = if worst.is_zero() {
        format!("woke up on time for {within}")
    } else if worst < LONG_DELAY {
        format!("woke up {shown} late at worst within {within}, which is fine")
    } else {
        format!(
            "woke up {shown} late within {within}: this machine is busy with other work, and \
             games may have to be played again because of that"
        )
    };
    Ok(Observed {
        what: "clock".to_owned(),
        check: SelftestCheck::Clock {
            delay_us: events::us(worst),
            watched_us: events::us(WATCHED),
        },
        found: Ok(found),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deals(came: Vec<Outcomes>) -> Deals {
        Deals {
            games: 4,
            outcomes: [(0, vec![vec![(1, 1), (2, -1)]; 2]), (1, came)].into(),
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
